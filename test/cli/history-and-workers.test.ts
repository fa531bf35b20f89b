import assert from "node:assert/strict"
import { existsSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, test } from "vitest"
import type { RunView, WorkerView } from "../../src/index.ts"
import { sqlite } from "../../src/sqlite.ts"
import { aHeartbeat, aWorker } from "../../src/store.ts"
import { type Terminal, terminal } from "./support.ts"

const COMMANDS = {
  hello: { argv: ["echo", "hello \u001b[31mworld"] },
  bad: { argv: ["sh", "-c", "echo oh no >&2; exit 3"] },
}
const each = (id: string, command: string, tags: string[] = []) => ({
  ...{ id, task: "command", cron: "0 0 1 1 *", payload: { command }, tags, retry: { attempts: 1 } },
})

/** A folder where a program with two schedules has run, triggered each once, and stopped. */
async function withHistory(): Promise<Terminal> {
  const shell = terminal()
  const schedules = [each("greeting", "hello", ["nice"]), each("broken", "bad")]
  shell.write("belfry.config.json", JSON.stringify({ commands: COMMANDS, schedules }))
  const ended = shell.run("start", "--stop-timeout", "1h")
  await shell.shows(/Ctrl-C stops it/)
  for (const { id } of schedules) await shell.run("schedule", "trigger", id, "--wait")
  shell.signal("SIGTERM")
  await ended
  return shell
}

/** Writes a single heartbeat of a worker. */
async function writeHeartbeat(shell: Terminal, id: string, nextInMs = 60_000): Promise<void> {
  const store = sqlite(join(shell.folder, "belfry.db"))
  await store.heartbeat(aHeartbeat({ worker: aWorker({ id, tasks: ["report"] }), nextInMs }))
  await store.close()
}

describe("logs", () => {
  test("prints the lines of many runs in the order they were written, each with its schedule", async () => {
    const shell = await withHistory()

    const all = await shell.run("logs")
    const tagged = await shell.run("logs", "-l", "nice", "--json")
    const errors = await shell.run("logs", "--schedule", "broken", "--tail", "1")
    const none = await shell.run("logs", "-l", "nobody-has-it")

    assert.match(all.out, /^greeting +2.* info {2}hello \\x1b\[31mworld.*\n[\s\S]*broken +2.*oh no/)
    const lines = tagged.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.ok(lines.every(({ scheduleId }) => scheduleId === "greeting"))
    assert.equal(errors.out.trim().split("\n").length, 1)
    assert.equal(none.code, 3)
  })

  test("-f prints the lines that are written later", async () => {
    const shell = await withHistory()
    const following = shell.run("logs", "-f", "--schedule", "greeting")
    await shell.shows(/greeting +2[^\n]*hello/)
    const ended = shell.run("start")

    await shell.run("schedule", "trigger", "greeting", "--wait")
    const shown = await shell.shows(/greeting +2[^\n]*hello/)
    shell.signal("SIGTERM")

    assert.equal((await following).code, 130)
    assert.equal((await ended).code, 0)
    assert.equal(shown.match(/hello \\x1b/g)?.length, 1)
  })

  test("run logs --since leaves out older lines", async () => {
    const shell = await withHistory()
    const [run] = await shell.json<RunView[]>("run", "list", "--schedule", "broken")

    assert.match((await shell.run("run", "logs", run!.id, "--since", "1h")).out, /oh no/)
    assert.equal((await shell.run("run", "logs", run!.id, "--since", "+1h")).out, "")
  })
})

interface Stat {
  readonly name: string
  readonly succeeded: number
  readonly failed: number
  readonly duration: { readonly p50Ms: number | null }
}

test("stats prints counts and durations by task, by schedule, or over time", async () => {
  const shell = await withHistory()
  const counted = async (...argv: readonly string[]) =>
    (await shell.json<Stat[]>("stats", ...argv)).map(({ name, succeeded, failed }) => [
      name,
      succeeded,
      failed,
    ])

  assert.deepEqual(await counted(), [
    ["command", 1, 1],
    ["all", 1, 1],
  ])
  assert.deepEqual(await counted("--by", "schedule"), [
    ["broken", 0, 1],
    ["greeting", 1, 0],
    ["all", 1, 1],
  ])
  const buckets = await counted("--schedule", "greeting")
  assert.deepEqual(buckets.at(-1), ["all", 1, 0])
  assert.match(String(buckets[0]![0]), /^\d{4}-\d\d-\d\dT\d\d:00:00\.000Z$/)
  const [task] = await shell.json<Stat[]>("stats")
  assert.ok(task!.duration.p50Ms! > 0)
  assert.equal((await shell.run("stats", "--since", "+1h")).out.trim().split("\n").length, 1)
})

describe("task run", () => {
  test("creates a run without a schedule; a second run with the same id is not created, and a held key is a conflict", async () => {
    const shell = await withHistory()
    const run = (...rest: string[]) =>
      shell.run("task", "run", "command", "--payload", '{"command":"hello"}', "-o", "name", ...rest)

    const created = await run("--id", "once", "--key", "one")
    const again = await run("--id", "once")
    const held = await run("--key", "one")
    const refused = await shell.run("task", "run", "command", "--payload", '{"command":"rm"}')
    const unknown = await shell.run("task", "run", "nobody", "--dry-run")

    assert.deepEqual([created.out, again.out], ["once\n", "once\n"])
    assert.match(again.err, /A run with this id already exists/)
    assert.deepEqual([held.code, refused.code, unknown.code], [5, 6, 0])
    assert.match(unknown.err, /No worker offers "nobody" now/)
    assert.equal((await shell.json<RunView[]>("run", "list")).length, 3)
  })
})

describe("workers", () => {
  test("a worker without a current heartbeat is shown as silent, with the time, and offers no tasks", async () => {
    const shell = terminal({ isTerminal: true })
    shell.write("belfry.config.json", JSON.stringify({ lease: "100ms", pollInterval: "10ms" }))
    await shell.run("s", "create", "n", "--task", "report", "--every", "1h")
    await writeHeartbeat(shell, "dead-one", 110)
    await new Promise((resolve) => setTimeout(resolve, 150))

    const list = await shell.run("worker", "list")
    const doctor = await shell.run("doctor")
    const top = await shell.run("top", "--once")
    const tasks = await shell.json<{ name: string; workers: number }[]>("task", "list")
    const occurrences = await shell.run("schedule", "occurrences", "n")

    assert.match(list.out, /dead-one +silent for \d/)
    assert.match(
      doctor.out,
      /! workers +no worker is online, so no runs are performed[\s\S]*! silent workers +1, such as dead-one: silent for/,
    )
    assert.match(top.out, /workers 0 \(0\/0 slots\), 1 silent[\s\S]*! process dead-one has been silent for/)
    assert.equal(tasks.find(({ name }) => name === "report")!.workers, 0)
    assert.match(occurrences.err, /No worker is online/)
  })

  test("worker get accepts the beginning of an id, and an unknown id is not found", async () => {
    const shell = terminal()
    await shell.run("s", "create", "n", "--task", "report", "--every", "1h")
    await writeHeartbeat(shell, "host:1:abc")
    await writeHeartbeat(shell, "host:2:def")

    const worker = await shell.json<WorkerView & { runs: string[] }>("worker", "get", "host:2")

    assert.deepEqual([worker.id, worker.silentForMs, worker.runs], ["host:2:def", null, []])
    assert.equal((await shell.run("worker", "get", "host")).code, 2)
    assert.equal((await shell.run("worker", "get", "elsewhere")).code, 3)
  })
})

test("schedule list -w prints all rows, then each changed row", async () => {
  const shell = terminal()
  await shell.run("s", "create", "a", "--task", "t", "--every", "1h")
  await shell.run("s", "create", "b", "--task", "t", "--every", "1h")
  const watching = shell.run("schedule", "list", "-w")
  await shell.shows(/Watching[\s\S]*b\tnew/)

  await shell.run("s", "pause", "b", "-q", "-o", "json")
  const shown = await shell.shows(/b\tpaused/)
  shell.signal("SIGINT")

  assert.doesNotMatch(shown, /a\tnew/)
  assert.equal((await watching).code, 130)
})

describe("init and config explain", () => {
  test("init writes a configuration, and never overwrites one", async () => {
    const shell = terminal()

    const dry = await shell.run("init", "--dry-run")
    const exists = existsSync(join(shell.folder, "belfry.config.mjs"))
    const created = await shell.run("init")
    const again = await shell.run("init")
    shell.write("tsconfig.json", "{}")

    assert.deepEqual([dry.code, exists, created.out, again.code], [0, false, "belfry.config.mjs\n", 5])
    assert.match(dry.out, /defineConfig/)
  })

  test("the configuration that init writes has an owner, and is the one that the guide shows", async () => {
    const shell = terminal()
    const guide = readFileSync(new URL("../../docs/guides/standalone.md", import.meta.url), "utf8")

    const { out } = await shell.run("init", "--dry-run")

    assert.match(out, /owner: "my-app"/)
    assert.ok(guide.includes(`\`\`\`ts\n${out}\`\`\``), "docs/guides/standalone.md shows another text")
  })

  test("config explain shows the source of each setting, and no password", async () => {
    const shell = terminal({ env: { BELFRY_STORE: "postgres://u:secret@h/db" } })
    shell.write("belfry.config.json", JSON.stringify({ store: "./x.db", lease: "5s", commands: COMMANDS }))
    const explain = async (...rest: string[]) =>
      new Map(
        (
          await shell.json<{ setting: string; value: string; from: string }[]>("config", "explain", ...rest)
        ).map(({ setting, value, from }) => [setting, [value, from]]),
      )

    const settings = await explain()
    const flagged = await explain("--store", "./flag.db", "--no-config")

    assert.deepEqual(settings.get("store"), ["postgres://u:***@h/db", "BELFRY_STORE"])
    assert.deepEqual(settings.get("lease"), ['"5s"', join(shell.folder, "belfry.config.json")])
    assert.deepEqual(settings.get("concurrency"), ["10", "default"])
    assert.deepEqual(flagged.get("store"), ["./flag.db", "--store"])
    assert.deepEqual(flagged.get("config"), ["none", "--no-config"])
  })
})

describe("the journal", () => {
  test("shows the changes of all schedules or of one, newest first", async () => {
    const shell = terminal({ isTerminal: true })
    await shell.run("s", "create", "n", "--task", "report", "--every", "1h")
    await shell.run("s", "create", "other", "--task", "report", "--every", "1h")
    await shell.run("s", "pause", "n", "--reason", "holiday", "--by", "ann")
    await shell.run("s", "resume", "n")

    const all = await shell.run("journal")
    const one = await shell.json<{ action: string; by: string; reason: string | null }[]>("journal", "n")
    const ann = await shell.run("journal", "--by", "ann", "-o", "tsv", "--no-headers")
    const none = await shell.run("journal", "n", "--until", "2020-01-01T00:00Z")
    const unknown = await shell.run("journal", "nobody")
    await shell.run("s", "delete", "other", "--yes")
    const deleted = await shell.run("journal", "other")

    assert.match(all.out, /WHEN +ACTION +SUBJECT +BY +REASON +CHANGED/)
    assert.match(
      all.out,
      /resumed +schedule n[\s\S]*paused +schedule n +ann +holiday[\s\S]*created +schedule n/,
    )
    assert.deepEqual(
      one.map(({ action }) => action),
      ["resumed", "paused", "created"],
    )
    assert.equal(ann.out.trim().split("\n").length, 1)
    assert.match(none.err, /No changes found/)
    assert.deepEqual([unknown.code, deleted.code], [3, 0])
    assert.match(unknown.err, /There is no schedule "nobody"/)
    assert.match(deleted.out, /deleted +schedule other/)
  })
})
