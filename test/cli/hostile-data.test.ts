import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { codeText } from "../../src/cli/printing/code-text.ts"
import { formatCsv } from "../../src/cli/printing/table.ts"
import type { Schedule } from "../../src/core/schedule/schedule.ts"
import { jsonLogger } from "../../src/runtime/logger.ts"
import { terminal } from "./support.ts"
import { holding } from "./terminal-on-store.ts"

/** All lines that cron would execute. */
function jobsIn(crontab: string): readonly string[] {
  return crontab.split(/[\n\r]/).filter((line) => line !== "" && !line.startsWith("#"))
}

describe("export --format crontab", () => {
  test.each<[title: string, schedule: Partial<Schedule>]>([
    ["an id", { id: "a\n* * * * * evil" }],
    ["a description", { id: "a", description: "b\r\n* * * * * evil" }],
    ["a task", { id: "a", task: "t\n* * * * * evil" }],
    ["a URL", { id: "a", task: "http", payload: { url: "https://a.test/\n* * * * * evil" } }],
    ["a URL that is an option of curl", { id: "a", task: "http", payload: { url: "-Kevil" } }],
    ["a URL of a file", { id: "a", task: "http", payload: { url: "file:///evil" } }],
    ["a URL with a reference", { id: "a", task: "http", payload: { url: "https://a.test/{{env.evil}}" } }],
    [
      "a command with the name of an object property",
      { id: "a", task: "command", payload: { command: "constructor" } },
    ],
    [
      "a time zone",
      { id: "a", task: "http", timezone: "UTC\n* * * * * evil", payload: { url: "https://a.test" } },
    ],
  ])("%s can't add a line to the crontab", async (_title, schedule) => {
    const shell = await holding(schedule)

    const { out } = await shell.run("export", "--format", "crontab")

    assert.match(out, /# not in a crontab: /)
    assert.deepEqual(jobsIn(out), [])
  })

  test("the fields of an expression are separated by one blank", async () => {
    const triggers = [{ kind: "cron" as const, cron: "0\t7  * * *", dayMatch: "either" as const }]
    const shell = await holding({
      id: "a",
      task: "http",
      payload: { url: "https://a.test/?b=%20" },
      triggers,
    })

    const { out } = await shell.run("export", "--format", "crontab")

    assert.deepEqual(jobsIn(out), [
      "CRON_TZ=UTC",
      "0 7 * * * flock -n /tmp/belfry-a.lock curl -fsSg -o /dev/null 'https://a.test/?b=\\%20'",
    ])
  })
})

test("a configuration as code keeps every key and text", async () => {
  const payload = JSON.parse(
    `{"__proto__": {"a": 1}, "b": "\`\${process.exit(1)}\`", "c": "\\n  \\"__proto__\\": 1 \\u2028 */"}`,
  )
  const code = codeText({ schedules: [{ id: "a", payload }] })

  const body = code.replace(/^import .*\n/, "const defineConfig = (config) => config\n")
  const module = await import(`data:text/javascript,${encodeURIComponent(body)}`)

  assert.equal(JSON.stringify(module.default.schedules[0].payload), JSON.stringify(payload))
  assert.ok(Object.hasOwn(module.default.schedules[0].payload, "__proto__"))
})

describe("cells of a CSV", () => {
  test.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["-cmd|' /C calc'!A0", "'-cmd|' /C calc'!A0"],
    ["@SUM(1)", "'@SUM(1)"],
    ['=HYPERLINK("a","b")', `"'=HYPERLINK(""a"",""b"")"`],
    ["  =1", "'  =1"],
    ["＝1", "'＝1"],
    ["-", "-"],
    ["-1.5", "-1.5"],
    ["a=b", "a=b"],
    ["2026-03-27T07:00:00.000Z", "2026-03-27T07:00:00.000Z"],
  ])("%s is %s", (text, cell) => {
    assert.equal(formatCsv([text], [{ header: "A", text: (row) => row }], false), `${cell}\n`)
  })
})

test.each(["constructor", "__proto__", "toString", "hasOwnProperty"])(
  "%s is an unknown command, an unknown scheme and an unknown shell",
  async (word) => {
    const shell = terminal()

    const command = await shell.run(word)
    const inGroup = await shell.run("schedule", word)
    const store = await shell.run("schedule", "list", "--store", `${word.replaceAll("_", "")}:x`)
    const completion = await shell.run("completion", word)

    assert.deepEqual([command.code, inGroup.code, store.code, completion.code], [2, 2, 2, 2])
    assert.match(command.err, /There is no command/)
    assert.match(inGroup.err, /Unknown command/)
    assert.match(store.err, /has an unknown scheme/)
  },
)

test("a log line has no control characters, and parses to the same text", () => {
  const lines: string[] = []
  const text = "a\u001b[2J\u009b31m\u202eb\u007f\u2066"

  jsonLogger({ write: (line) => lines.push(line) }).warn({ component: text }, text)

  assert.match(lines[0]!, /^[\x20-\x7e]*\n$/)
  assert.equal(JSON.parse(lines[0]!).message, text)
})

test("errors don't contain secrets of the payload, the configuration or the address", async () => {
  const shell = terminal()
  const create = ["s", "create", "a", "--task", "t", "--every", "1h", "--payload"]
  shell.write("belfry.config.json", '{"store": 73577357, "sql": "73577357"}')

  const payload = await shell.run(...create, '{"pin": 73577357 x}', "--no-config")
  const config = await shell.run("s", "list")
  const address = await shell.run(
    "s",
    "list",
    "--no-config",
    "--store",
    "mysql://u:735@773577357@h/db?sslpassword=73577357",
  )

  for (const { code, err } of [payload, config, address]) {
    assert.notEqual(code, 0)
    assert.doesNotMatch(err, /73577357/)
  }
})

test("a question shows control characters of stored data as escapes", async () => {
  const shell = await holding({ id: "a\u001b[2J\u202eb", tags: ["team"] })
  shell.write("s.yaml", "[]")

  await shell.run("apply", "-f", "s.yaml", "--prune", "-l", "team")

  assert.deepEqual(shell.asked, ["Delete a\\x1b[2J\\u202eb? [y/N] "])
})
