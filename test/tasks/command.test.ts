import assert from "node:assert/strict"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterEach, describe, test } from "vitest"
import { isAlive, pidIn } from "../support/processes.ts"
import { folderOfTest, node, perform } from "./command-run.ts"

describe("the user and group of a command", () => {
  const NOBODY = 65_534

  test("a user without a group is refused, because the command would keep root's group", () => {
    assert.throws(() => perform({ argv: ["id"], uid: NOBODY }), {
      code: "BELFRY_TASK_INVALID",
      message: /^Command "it": gid has to be given with uid/,
    })
  })

  test.skipIf(process.getuid?.() !== 0)(
    "a command with a user and a group has none of the worker's groups",
    async () => {
      const before = process.getgroups!()
      process.setgroups!([0, 4])
      try {
        const { ended, lines } = perform({
          argv: ["sh", "-c", "id -u; id -g; id -G"],
          cwd: "/",
          uid: NOBODY,
          gid: NOBODY,
        })
        await ended

        assert.deepEqual(lines, [String(NOBODY), String(NOBODY), String(NOBODY)])
      } finally {
        process.setgroups!(before)
      }
    },
  )

  test.each([
    ["uid", { uid: -1, gid: 1 }],
    ["gid", { uid: 1, gid: 1.5 }],
    ["gid", { uid: 1, gid: "root" }],
    ["env", { env: "PATH" }],
    ["cwd", { cwd: "" }],
    ["timeOut", { timeOut: "5m" }],
    ["args.a.patern", { argv: ["echo", "{a}"], args: { a: { patern: ".*" } } }],
  ])("an invalid option is refused by its name: %s", (option, definition) => {
    assert.throws(() => perform({ argv: ["true"], ...(definition as object) }), {
      code: "BELFRY_TASK_INVALID",
      message: new RegExp(`^Command "it": ${option} `),
    })
  })
})

describe("the end of a command", () => {
  test("exit code 0 succeeds, and both output streams are in the log, line by line", async () => {
    const { ended, lines } = perform({
      argv: node("console.log('one\\ntwo'); console.error('three'); process.stdout.write('four')"),
    })

    const { success, message, details } = await ended

    assert.equal(success, true, message)
    assert.deepEqual([details["exitCode"], details["signal"], details["isCut"]], [0, null, false])
    assert.deepEqual([details["stdoutBytes"], details["stderrBytes"]], [12, 6])
    assert.deepEqual([...lines].sort(), ["four", "one", "three", "two"])
  })

  test("any other exit code fails, and is in the details", async () => {
    const { success, message, details } = await perform({ argv: node("process.exit(3)") }).ended

    assert.deepEqual([success, details["exitCode"]], [false, 3])
    assert.match(message, /Command "it" ended with exit code 3/)
  })

  test("a command that is ended by a signal fails, and the signal is in the details", async () => {
    const { success, details } = await perform({ argv: node("process.kill(process.pid, 'SIGABRT')") }).ended

    assert.deepEqual([success, details["exitCode"], details["signal"]], [false, null, "SIGABRT"])
  })

  test("a missing program, a missing folder, and a file that can't be executed fail with a message", async () => {
    const missing = await perform({ argv: ["no-such-program-anywhere"] }).ended
    const folder = await perform({ argv: ["true"], cwd: "/no/such/folder" }).ended
    const file = join(folderOfTest(), "no-program")
    writeFileSync(file, "", { mode: 0o600 })
    const forbidden = await perform({ argv: [file] }).ended

    assert.match(missing.message, /there is no program "no-such-program-anywhere" \(ENOENT\)/)
    assert.match(folder.message, /there is no folder "\/no\/such\/folder"/)
    assert.match(forbidden.message, /could not be started: EACCES/)
    assert.deepEqual(
      [missing, folder, forbidden].map(({ success }) => success),
      [false, false, false],
    )
  })

  test("a command that closes its output streams is waited for", async () => {
    const code =
      "require('fs').closeSync(1); require('fs').closeSync(2); setTimeout(() => process.exit(7), 200)"

    const { details } = await perform({ argv: node(code) }).ended

    assert.equal(details["exitCode"], 7)
  })

  test("processes that a command leaves behind in its group are ended", async () => {
    const { ended, lines } = perform({ argv: ["sh", "-c", "sleep 1000 & echo child $!"] }, { grace: "10m" })

    const { success } = await ended

    assert.equal(success, true)
    assert.equal(isAlive(await pidIn(lines, "child")), false)
  })
})

describe("the environment of a command", () => {
  afterEach(() => {
    delete process.env["BELFRY_TEST_SECRET"]
    delete process.env["BELFRY_TEST_ALLOWED"]
  })

  test("has a few standard variables, the allowed ones, and the run's", async () => {
    process.env["BELFRY_TEST_SECRET"] = "1"
    process.env["BELFRY_TEST_ALLOWED"] = "2"

    const { ended, lines } = perform({ argv: ["env"], env: ["BELFRY_TEST_ALLOWED", "BELFRY_TEST_UNSET"] })
    await ended

    const names = lines.map((line) => line.split("=")[0]!)
    const known = [
      "PATH",
      "HOME",
      "LANG",
      "TZ",
      "BELFRY_TEST_ALLOWED",
      "BELFRY_RUN_ID",
      "BELFRY_ATTEMPT",
      "BELFRY_SCHEDULED_FOR",
    ]
    assert.deepEqual(
      names.filter((name) => !known.includes(name)),
      [],
    )
    assert.ok(
      lines.includes("BELFRY_TEST_ALLOWED=2") &&
        lines.includes("BELFRY_RUN_ID=nightly@2026-01-01T00:00:00.000Z"),
    )
  })

  test("has the given folder, and no input", async () => {
    const folder = folderOfTest()

    const { ended, lines } = perform({ argv: ["sh", "-c", "pwd; cat; echo end"], cwd: folder })
    await ended

    assert.deepEqual(lines, [folder, "end"])
  })

  test("has a process group of its own", async () => {
    const { ended, lines } = perform({
      argv: ["sh", "-c", "echo $$ $(ps -o pgid= -p $$) $(ps -o sid= -p $$)"],
    })
    await ended

    const [pid, group, session] = lines[0]!.split(" ")
    assert.deepEqual([group, session], [pid, pid])
  })

  test("has another user if the worker is root; otherwise the command fails", async () => {
    const isRoot = process.getuid?.() === 0
    const { ended, lines } = perform({ argv: ["id", "-u"], uid: 65_533, gid: 65_533, cwd: "/" })

    const { success, message } = await ended

    assert.equal(success, isRoot, message)
    assert.deepEqual(lines, isRoot ? ["65533"] : [])
    if (!isRoot) assert.match(message, /could not be started: EPERM/)
  })
})

describe("output", () => {
  test("of more lines than the limit, the first and the last are kept", async () => {
    const { ended, lines } = perform({ argv: ["seq", "1", "100000"] }, { maxLines: 10 })
    const { details } = await ended

    assert.deepEqual(lines.slice(0, 10), ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"])
    assert.match(lines[10]!, /the output was cut/)
    assert.equal(lines.at(-1), "100000")
    assert.ok(lines.length < 2_000)
    assert.deepEqual([details["isCut"], details["stdoutBytes"]], [true, 588_895])
  })

  test("a very long line is cut, and a character that is split between two reads stays whole", async () => {
    const code =
      "process.stdout.write('x'.repeat(1e6) + '\\nü'); setTimeout(() => process.stdout.write('ü\\r\\n'), 50)"

    const { ended, lines } = perform({ argv: node(code) })
    await ended

    assert.equal(lines[0], `${"x".repeat(8_192)}… (cut)`)
    assert.equal(lines[1], "üü")
  })
})
