import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { FAR_AWAY } from "./nightly.ts"
import { terminal } from "./support.ts"

describe("formats", () => {
  test("csv quotes cells with commas; wide prints more columns and cuts nothing", async () => {
    const shell = terminal({ isTerminal: true, columns: 80 })
    await shell.run(
      "s",
      "create",
      "n",
      "--task",
      "a",
      "--cron",
      "0 0 1,15 * *",
      "--tag",
      "x",
      "--description",
      "d".repeat(90),
    )

    const csv = await shell.run("s", "list", "-o", "csv")
    const wide = await shell.run("s", "list", "-o", "wide")

    assert.match(csv.out, /^ID,STATE,TASK,WHEN,ZONE,NEXT,LAST\nn,new,a,"0 0 1,15 \* \*",UTC,2/)
    assert.match(wide.out, /OVERLAP +CATCH-UP +OWNER +TAGS +DESCRIPTION\n.* skip +once +- +x +d{90}\n/)
  })

  test("--fields without JSON, and an unknown field, are refused", async () => {
    const shell = terminal()
    const create = ["schedule", "create", "a", "--task", "t", "--every", "1h"]

    const table = await shell.run(...create, "--fields", "id")
    await shell.run(...create)
    const unknown = await shell.run("schedule", "list", "--json", "--fields", "idd")
    const known = await shell.run("schedule", "list", "--json", "--fields", "id,paused.reason")

    assert.equal(table.code, 2)
    assert.match(table.err, /--fields is for JSON and YAML[\s\S]*--json/)
    assert.equal(unknown.code, 2)
    assert.match(unknown.err, /there is no field \\"idd\\".*The fields are id, /)
    assert.deepEqual(JSON.parse(known.out), [{ id: "a", "paused.reason": null }])
  })

  test("--color takes precedence over the environment", async () => {
    const shell = terminal({ isTerminal: true })
    await shell.run("s", "create", "n", "--task", "t", "--every", "1h")

    const always = await shell.run("s", "list", "--color", "always")
    const never = await terminal({ env: { FORCE_COLOR: "1", NO_COLOR: "" } }).run(
      "s",
      "list",
      "--color=never",
    )
    const wrong = await shell.run("s", "list", "--color", "blue")

    assert.ok(always.out.includes("\u001b[1mn\u001b[0m"))
    assert.ok(!never.err.includes("\u001b"))
    assert.equal(wrong.code, 2)
  })

  test("--verbose prints each call of the store to standard error", async () => {
    const shell = terminal()
    await shell.run("s", "create", "n", "--task", "t", "--every", "1h")

    const { out, err } = await shell.run("s", "list", "--verbose", "-o", "name")

    assert.equal(out, "n\n")
    assert.match(err, /store\.open [\d.]+ ms\n[\s\S]*store\.findSchedules [\d.]+ ms, 1 results\n/)
  })
})

test("schedules are exported as code, and as a crontab with comments for the schedules it can't express", async () => {
  const shell = terminal()
  shell.write(
    "belfry.config.json",
    JSON.stringify({
      commands: { v: { argv: ["/opt/v.sh", "{day}", "100%"], args: { day: { pattern: ".*" } } } },
    }),
  )
  const make = (key: string, ...rest: string[]) => shell.run("s", "create", key, ...rest)
  const berlin = ["--tz", "Europe/Berlin"]
  await make(
    "a-command",
    "--task",
    "command",
    "--cron",
    "0 4 * * SUN",
    ...berlin,
    "--payload",
    '{"command":"v","args":{"day":"it\'s"}}',
  )
  await make(
    "b-url",
    "--task",
    "http",
    "--cron",
    "@daily",
    ...berlin,
    "--overlap",
    "allow",
    "--payload",
    '{"url":"https://example.com/?a=1"}',
  )
  await make("c-code", "--task", "report", "--cron", "0 4 * * *")
  await make("d-last", "--task", "http", "--cron", "0 4 L * *", "--payload", '{"url":"https://example.com"}')
  await make("e-every", "--task", "http", "--every", "5m", "--payload", '{"url":"https://example.com"}')

  const crontab = await shell.run("export", "--format", "crontab")
  const code = await shell.run("export", "--format", "ts")
  shell.input = crontab.out
  const back = await shell.json<{ cron: string; entry: { overlap: string } }[]>("import", "crontab", "-")

  assert.ok(
    crontab.out.includes(
      `CRON_TZ=Europe/Berlin\n0 4 * * SUN flock -n /tmp/belfry-a-command.lock /opt/v.sh 'it'\\''s' 100\\%\n`,
    ),
    crontab.out,
  )
  assert.match(crontab.out, /\n@daily curl -fsSg -o \/dev\/null 'https:\/\/example\.com\/\?a=1'\n/)
  assert.match(crontab.out, /# not in a crontab: its task is code/)
  assert.match(crontab.out, /# not in a crontab: cron does not support L/)
  assert.match(crontab.out, /# not in a crontab: an interval/)
  assert.deepEqual(
    back.map(({ cron, entry }) => [cron, entry.overlap]),
    [
      ["0 4 * * SUN", "skip"],
      ["@daily", "allow"],
    ],
  )
  assert.match(
    code.out,
    /^import \{ defineConfig \} from "belfry\/config"\n\nexport default defineConfig\(\{\n/,
  )
  assert.equal(JSON.parse(code.out.slice(code.out.indexOf("({") + 1, -2)).schedules.length, 5)
})

describe("next", () => {
  test("--ics prints a calendar with folded lines", async () => {
    const shell = terminal({ now: "2026-03-27T12:00:00Z" })

    const { out } = await shell.run("next", "30 2 * * *", "--tz", "Europe/Berlin", "-n", "2", "--ics")

    const unfolded = out.replaceAll("\r\n ", "")
    assert.match(out, /^BEGIN:VCALENDAR\r\nVERSION:2\.0\r\n/)
    assert.match(out, /DTSTART:20260328T013000Z\r\n[\s\S]*DTSTART:20260329T010000Z\r\n/)
    assert.match(
      unfolded,
      /DESCRIPTION:At 02:30 every day \(Europe\/Berlin\)\. DST: 02:30 does not exist\\, runs/,
    )
    assert.match(out, /END:VEVENT\r\nEND:VCALENDAR\r\n$/)
    assert.ok(out.split("\r\n").every((line) => Buffer.byteLength(line) <= 75))
  })

  test("--schedule shows a stored schedule with its skips, and excludes an expression and its rules", async () => {
    const shell = terminal()
    await shell.run("s", "create", "n", "--task", "t", "--cron", "0 9 * * *", ...FAR_AWAY)
    await shell.run("s", "skip", "n", "--reason", "holiday")

    const next = await shell.json<{ note: string | null }[]>("next", "--schedule", "n", "-n", "2")
    const calendar = await shell.run("next", "--schedule", "n", "-n", "2", "--ics")
    const wrong = await shell.run("next", "0 9 * * *", "--schedule", "n")
    const zone = await shell.run("next", "--schedule", "n", "--tz", "UTC")

    assert.equal(next[0]!.note, "skipped: holiday")
    assert.equal(calendar.out.match(/BEGIN:VEVENT/g)?.length, 1)
    assert.deepEqual([wrong.code, zone.code], [2, 2])
    assert.match(zone.err, /--timezone and --schedule exclude each other/)
  })
})
