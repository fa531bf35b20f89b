import assert from "node:assert/strict"
import { describe, test } from "vitest"
import type { ScheduleEntry } from "../../src/config.ts"
import type { ScheduleOptions } from "../../src/core/options/options.ts"
import { terminal } from "./support.ts"

/** Every option except the triggers, with a value that is not the default. */
const EVERYTHING: Required<
  Omit<ScheduleOptions, "cron" | "dayMatch" | "every" | "anchor" | "at" | "in" | "triggers">
> = {
  timezone: "Europe/Berlin",
  dst: { gap: "skip", overlap: "both" },
  priority: "high",
  jitter: "90s",
  spacing: "2m",
  startsAt: "2030-01-01T00:00:00+01:00",
  endsAt: "2040-01-01T00:00:00.123Z",
  maxRuns: 7,
  removeWhenFinished: true,
  catchUp: { policy: "all", grace: "5s", window: "36h", limit: 3 },
  overlap: { policy: "queue", limit: 4 },
  maxConcurrentRuns: 2,
  dependsOn: [{ schedule: "once", within: "1h30m" }],
  retry: { attempts: 5, backoff: "linear", delay: "1500ms" as never, maxDelay: "1h", jitter: 1 },
  timeout: 1_234,
  enabled: false,
  tags: ["true", "123", "a: b", "#c", "é"],
  description: "Two\nlines\t\u001b[31m\u202e \u2028 'quoted' \"twice\" # no comment ",
}

const PAYLOAD = JSON.parse(
  `{"__proto__": {"a": 1}, "on": "yes", "b": ["2026-01-01", "1e3", 1e21, 0.1, null, {}], "c": "\`\${d}\`", "<<": {"e": "~"}}`,
)

const SCHEDULES: readonly ScheduleEntry[] = [
  { id: "null", task: "true", cron: "0 9 13 * FRI", dayMatch: "both", payload: PAYLOAD, ...EVERYTHING },
  { id: "interval", task: "t", every: "90m", anchor: "2030-01-01T00:00:00Z" },
  { id: "once", task: "t", at: "2035-05-05T05:05:05Z", payload: "text" },
  {
    ...{ id: "several", task: "t", timezone: "Asia/Tokyo", payload: 0 },
    triggers: [{ cron: "@daily" }, { every: "1s" }, { at: "2035-01-01T00:00:00Z" }],
  },
  { id: "0x10", task: "t", cron: "0 0 1 1 *", catchUp: "none", overlap: "allow", payload: false },
]

describe("schedules that are applied and exported again don't differ", () => {
  test.each(["yaml", "json"])("as %s", async (format) => {
    const shell = terminal()
    shell.write("s.json", JSON.stringify({ schedules: SCHEDULES }))
    const applied = await shell.run("apply", "-f", "s.json")
    assert.equal(applied.code, 0, applied.err)

    const exported = await shell.run("export", "--format", format)
    shell.input = exported.out
    const there = await shell.run("diff", "-f", "-", "--diff")
    const given = await shell.run("diff", "-f", "s.json", "--diff")
    const elsewhere = terminal()
    elsewhere.input = exported.out
    await elsewhere.run("apply", "-f", "-")

    assert.deepEqual([exported.code, exported.err], [0, ""])
    assert.deepEqual([there.code, there.out], [0, "ID\tACTION\tDETAILS\n"])
    assert.deepEqual([given.code, given.out], [0, "ID\tACTION\tDETAILS\n"])
    assert.equal((await elsewhere.run("export", "--format", format)).out, exported.out)
  })
})

test("schedules that replace other definitions don't differ afterwards", async () => {
  const shell = terminal()
  const turned = SCHEDULES.map((entry, index) => {
    const { id: _id, task: _task, ...other } = SCHEDULES[(index + 1) % SCHEDULES.length]!
    return { id: entry.id, task: entry.task, ...other }
  })
  shell.write("a.json", JSON.stringify(SCHEDULES))
  shell.write("b.json", JSON.stringify(turned))
  await shell.run("apply", "-f", "a.json")

  const applied = await shell.run("apply", "-f", "b.json")

  assert.match(applied.err, /5 changed/)
  assert.equal((await shell.run("diff", "-f", "b.json")).code, 0)
})

test("diff compares schedules declared in code, and equal ones don't differ", async () => {
  const shell = terminal()
  const declared = [{ id: "a", task: "http", every: "1h", payload: { url: "https://example.com" } }]
  shell.write("belfry.config.json", JSON.stringify({ owner: "app", schedules: declared }))
  const ended = shell.run("start")
  await shell.shows(/is running/)
  shell.signal("SIGTERM")
  await ended

  shell.input = (await shell.run("export", "--all")).out
  const same = await shell.run("diff", "-f", "-")
  shell.input = shell.input.replace("1h", "2h")
  const different = await shell.run("diff", "-f", "-")

  assert.equal(same.code, 0, same.out)
  assert.equal(different.code, 1)
  assert.match(different.out, /a\tleft alone\tdeclared in code \(owner app\)/)
})
