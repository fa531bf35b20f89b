import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { COMMANDS, GROUPS } from "../../src/cli/commands.ts"
import { SETTINGS } from "../../src/cli/files/config-settings.ts"
import { COMMON_OPTIONS, RECORD_OPTIONS, STORE_OPTIONS } from "../../src/cli/parsing/command.ts"
import { ERRORS } from "../../src/core/errors.ts"
import { terminal } from "./support.ts"

describe("belfry next", () => {
  const BERLIN = ["30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28", "-n", "3"] as const

  test("shows both time zones and the effect of the change of clocks, and warns", async () => {
    const shell = terminal({ isTerminal: true, zone: "America/New_York", now: "2026-03-01T00:00:00Z" })

    const { out, err, code } = await shell.run("next", ...BERLIN)

    assert.equal(code, 0)
    assert.equal(
      out,
      [
        "#  EUROPE/BERLIN              AMERICA/NEW_YORK  UTC                   NOTE",
        "1  Sat 28 Mar 02:30 (+01:00)  Fri 27 Mar 21:30  2026-03-28T01:30:00Z",
        "2  Sun 29 Mar 03:00 (+02:00)  Sat 28 Mar 21:00  2026-03-29T01:00:00Z  DST: 02:30 does not exist, runs once at 03:00",
        "3  Mon 30 Mar 02:30 (+02:00)  Sun 29 Mar 20:30  2026-03-30T00:30:00Z  23.5 h after the previous",
        "",
      ].join("\n"),
    )
    assert.match(err, /^At 02:30 every day · Europe\/Berlin · your zone America\/New_York\n/)
    assert.match(err, /warning L04 {2}02:30 is skipped by the clock on Sun 29 Mar 2026/)
  })

  test("notes the first and the second occurrence when the clock goes back", async () => {
    const shell = terminal({ isTerminal: true, now: "2026-10-01T00:00:00Z" })
    const range = ["30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-10-25", "-n", "3"]

    const { out } = await shell.run("next", ...range, "--dst-overlap", "both")

    assert.match(out, /02:30 occurs twice, this is the first\n.*02:30 occurs twice, this is the second\n/)
  })

  test("prints TSV in a pipe, and JSON with --json", async () => {
    const shell = terminal({ now: "2026-03-01T00:00:00Z" })

    const tsv = await shell.run("next", ...BERLIN, "--no-headers")
    const json = await shell.json<{ occurrences: { at: string; note: string | null }[]; lints: object[] }>(
      "next",
      ...BERLIN,
    )
    const names = await shell.run("next", ...BERLIN, "-o", "name", "-q")

    assert.equal(tsv.out.split("\n")[0], "1\tSat 28 Mar 02:30 (+01:00)\t2026-03-28T01:30:00Z\t")
    assert.deepEqual(json.occurrences[0], { at: "2026-03-28T01:30:00.000Z", note: null })
    assert.equal(json.lints.length, 2)
    assert.deepEqual([names.out.split("\n")[2], names.err], ["2026-03-30T00:30:00Z", ""])
  })

  test("counts between two times, with the expression in any position", async () => {
    const shell = terminal()
    const between = ["--between", "2026-01-01", "2026-12-31"]

    assert.equal((await shell.run("next", "0 9 * * MON", ...between, "--count")).out, "52\n")
    assert.equal((await shell.run("next", "--count", ...between, "0 9 * * MON")).out, "52\n")
  })
})

test("explain prints the description and the lints; the exit code of lint depends on its findings", async () => {
  const shell = terminal({ now: "2026-03-01T00:00:00Z" })

  const explained = await shell.run("explain", "*/7 * * * *")
  const [odd, never, fine, strict] = [
    await shell.run("lint", "*/7 * * * *"),
    await shell.run("lint", "0 0 31 2 *"),
    await shell.run("lint", "0 9 * * 1"),
    await shell.run("lint", "*/7 * * * *", "--strict"),
  ]

  assert.match(explained.out, /^Every 7 minutes.*\nNext: .*\nwarning L01 /)
  assert.deepEqual([odd.code, never.code, fine.code, strict.code], [0, 6, 0, 6])
  assert.match(never.out, /error BELFRY_CRON_NEVER/)
})

test("a dst option suppresses the lint about clock changes; --ignore suppresses any lint", async () => {
  const shell = terminal({ now: "2026-01-01T00:00:00Z" })
  const schedules = [
    {
      id: "a",
      task: "t",
      cron: "30 2 * * *",
      timezone: "Europe/Berlin",
      dst: { gap: "after", overlap: "first" },
    },
  ]
  shell.write("said.json", JSON.stringify({ schedules }))
  const berlin = ["30 2 * * *", "--tz", "Europe/Berlin"] as const

  const unset = await shell.run("lint", ...berlin, "--strict")
  const gap = await shell.run("lint", ...berlin, "--strict", "--dst-gap", "after")
  const both = await shell.run("lint", ...berlin, "--strict", "--dst-gap", "after", "--dst-overlap", "first")
  const file = await shell.run("lint", "-f", "said.json", "--strict")
  const ignored = await shell.run("lint", ...berlin, "--strict", "--ignore", "L04,L05")
  const wrong = await shell.run("lint", ...berlin, "--ignore", "dst")
  await shell.run("schedule", "create", "nightly", "--task", "t", "--cron", ...berlin)
  await shell.run("schedule", "create", "chosen", "--task", "t", "--cron", ...berlin, "--dst-gap", "skip")
  const doctor = await shell.run("doctor", "--ignore", "L05")

  assert.match(unset.out, /L04[\s\S]*L05/)
  assert.doesNotMatch(gap.out, /L04/)
  assert.match(gap.out, /L05/)
  assert.deepEqual([unset.code, both.code, file.code, ignored.code, wrong.code], [6, 0, 0, 0, 2])
  assert.match(doctor.out, /! lints +nightly may contain mistakes \(L04\)/)
})

test("lint checks files of schedules", async () => {
  const shell = terminal()
  shell.write(
    "s.yaml",
    "schedules:\n  - id: a\n    task: http\n    cron: 0 25 * * *\n  - id: b\n    task: http\n    every: 5m\n",
  )

  const { code, out } = await shell.run("lint", "-f", "s.yaml")

  assert.equal(code, 6)
  assert.match(out, /^error BELFRY_CRON_FIELD_RANGE {2}a: Schedule "a": cron: Hour "25"/)
})

describe("help", () => {
  test("every command has a summary, and help with at least two examples of itself", async () => {
    for (const spec of COMMANDS) {
      const shell = terminal()
      const { code, out } = await shell.run(...spec.name.split(" "), "--help")

      assert.equal(code, 0, spec.name)
      assert.match(out, new RegExp(`^Usage: belfry ${spec.name} `), spec.name)
      assert.ok(spec.examples.length >= 2, spec.name)
      assert.ok(out.includes(spec.summary), spec.name)
      const whole = out.replaceAll(/ \\\n +/g, " ").replaceAll(/\s+/g, " ")
      for (const [example] of spec.examples) assert.ok(whole.includes(`$ ${example}`), spec.name)
    }
  })

  test("help fits 80 columns, and an example on several lines is still one command", async () => {
    const shell = terminal({ isTerminal: true, columns: 80 })
    const all = [
      [],
      ...Object.keys(GROUPS).map((name) => [name]),
      ...COMMANDS.map(({ name }) => name.split(" ")),
    ]
    for (const words of all) {
      const { out, err } = await shell.run(...words, "--help")
      const wide = `${out}${err}`.split("\n").filter((line) => line.length > 80)
      assert.deepEqual(wide, [], words.join(" "))
    }
    const { out } = await shell.run("schedule", "create", "--help")

    assert.match(out, /\$ belfry schedule create ping --task http --every 5m \\\n +--payload '/)
  })

  test("help, remedies and settings have no unusual words", () => {
    const remedies = Object.values(ERRORS).map(({ remedy }) => remedy)
    const settings = Object.values(SETTINGS).map(({ description }) => description)
    const help = COMMANDS.map((spec) => JSON.stringify(spec))
    const shared = [...STORE_OPTIONS, ...RECORD_OPTIONS, ...COMMON_OPTIONS].map(
      ({ description }) => description,
    )
    for (const text of [...remedies, ...settings, ...help, ...shared])
      assert.doesNotMatch(text, /\bmend\b|unless said|\btold\b|\bnobody\b|\bwhoever\b/i)
  })

  test("belfry help is the same as --help, for the program and for a command", async () => {
    const shell = terminal()

    const [all, one] = [await shell.run("help"), await shell.run("help", "schedule", "create")]

    assert.deepEqual(all, await shell.run("--help"))
    assert.deepEqual(one, await shell.run("schedule", "create", "--help"))
    assert.equal(one.code, 0)
  })

  test("--timezone is another name of --tz", async () => {
    const zone = async (flag: string) =>
      (await terminal().run("next", "0 9 * * *", flag, "Asia/Tokyo", "--from", "2026-01-01", "-n", "1")).out

    assert.match(await zone("--timezone"), /T00:00:00Z/)
    assert.equal(await zone("--timezone"), await zone("--tz"))
  })

  test("without arguments the program lists every command", async () => {
    const { out, code } = await terminal().run()

    assert.equal(code, 0)
    for (const { name } of COMMANDS) assert.match(out, new RegExp(`^  ${name}[ \n]`, "m"))
  })

  test("a group without a command prints its commands and exits 2", async () => {
    const { err, code } = await terminal().run("schedule")

    assert.equal(code, 2)
    assert.match(err, /belfry schedule <command>/)
  })
})

test.each(["bash", "zsh", "fish"])(
  "the completion script for %s has every command and lists ids",
  async (shell) => {
    const { out, code } = await terminal().run("completion", shell)

    assert.equal(code, 0)
    for (const { name } of COMMANDS) for (const word of name.split(" ")) assert.ok(out.includes(word), word)
    assert.match(out, /belfry schedule list -o name/)
  },
)

test("lint shows a schedule without an id by its position, and the mistakes of the other schedules", async () => {
  const shell = terminal()
  shell.write("s.yaml", "- {task: t, every: 5m}\n- {id: b, task: t, cron: 0 25 * * *}\n")

  const { code, out } = await shell.run("lint", "-f", "s.yaml")

  assert.equal(code, 6)
  assert.match(out, /Schedule 1 in .*s\.yaml has no id/)
  assert.match(out, /Hour "25"/)
})
