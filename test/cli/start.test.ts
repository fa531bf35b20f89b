import assert from "node:assert/strict"
import { setTimeout as sleep } from "node:timers/promises"
import { describe, test } from "vitest"
import { memory, type RunView, type WorkerView } from "../../src/index.ts"
import type { Store } from "../../src/store/store.ts"
import { type Terminal, terminal } from "./support.ts"

const CONFIG = {
  commands: {
    hello: { argv: ["echo", "hello \u001b[31mworld"] },
    bad: { argv: ["sh", "-c", "echo oh no >&2; exit 3"] },
    slow: { argv: ["sleep", "10000"] },
  },
  schedules: [
    { id: "hello", task: "command", cron: "0 0 1 1 *", payload: { command: "hello" } },
    { id: "bad", task: "command", cron: "0 0 1 1 *", payload: { command: "bad" }, retry: { attempts: 1 } },
    { id: "slow", task: "command", cron: "0 0 1 1 *", payload: { command: "slow" } },
  ],
}

/** Runs the program in the background in its own folder, until the test stops it. */
async function started(): Promise<{
  shell: Terminal
  stop: () => Promise<{ code: number; out: string; err: string }>
}> {
  const shell = terminal()
  shell.write("belfry.config.json", JSON.stringify(CONFIG))
  const ended = shell.run("start", "--stop-timeout", "1h")
  await shell.shows(/Ctrl-C stops it/)
  while ((await shell.run("worker", "list", "--no-headers", "-q")).out === "") await sleep(10)
  return {
    shell,
    stop: () => {
      shell.signal("SIGTERM")
      return ended
    },
  }
}

describe("belfry start", () => {
  test("prints the store, the tasks and the next runs, performs runs, and stops gracefully", async () => {
    const { shell, stop } = await started()

    const triggered = await shell.run("schedule", "trigger", "hello", "--follow")
    const [worker] = await shell.json<WorkerView[]>("worker", "list")
    const tasks = await shell.run("task", "list", "-o", "name")
    const ended = await stop()

    assert.equal(triggered.code, 0, triggered.err)
    assert.match(triggered.out, /info {2}hello \\x1b\[31mworld.*\n✓ succeeded hello\+/)
    assert.deepEqual(worker!.tasks, ["http", "command"])
    assert.equal(tasks.out, "command\nhttp\n")
    assert.equal(ended.code, 0)
    assert.match(
      ended.err,
      /Store {3}.*belfry\.db \(new\)\n.*Config {2}.*belfry\.config\.json\n.*Tasks {3}http, command/,
    )
    assert.match(ended.err, /hello +command +At 00:00 on day 1 of January \(UTC\) +in /)
    assert.match(ended.out, /^[\d:]{8} {2}● started {4}Belfry .* on .*belfry\.db\n/)
    assert.match(ended.out, /✓ succeeded {2}hello\+/)
    assert.match(ended.out, /○ stopping {3}SIGTERM: no new runs are started.*\n.*○ stopped .*\n$/)
  })

  test("--wait exits with the result of the run, and its log, attempts and error can be read", async () => {
    const { shell, stop } = await started()

    const failed = await shell.run("schedule", "trigger", "bad", "--wait")
    const [run] = await shell.json<RunView[]>("run", "list", "--status", "failed")
    const again = await shell.run("run", "retry", run!.id.slice(0, 8))
    const waited = await shell.run("run", "wait", run!.id)
    const logs = await shell.run("run", "logs", run!.id, "--attempt", "1", "--json")
    const found = await shell.run("run", "list", "--error", "exit code 3", "--since", "1h", "-o", "name")
    await stop()

    assert.equal(failed.code, 8)
    assert.equal(again.code, 0, again.err)
    assert.equal(waited.code, 8)
    assert.match(JSON.parse(logs.out.split("\n")[0]!).message, /oh no/)
    assert.equal(found.out, `${run!.id}\n`)
  })

  test("a timeout ends the wait, not the run; a cancelled run exits 9", async () => {
    const { shell, stop } = await started()
    const id = (await shell.run("schedule", "trigger", "slow", "-o", "name")).out.trim()

    const late = await shell.run("run", "wait", id, "--timeout", "300ms")
    const held = await shell.run("schedule", "trigger", "slow")
    await shell.run("run", "cancel", id, "--reason", "enough")
    const cancelled = await shell.run("run", "watch", id)
    await stop()

    assert.equal(late.code, 124)
    assert.match(late.err, /The run continues\. To cancel it: belfry run cancel/)
    assert.equal(held.code, 5)
    assert.match(held.err, /has not finished, and the overlap policy is skip/)
    assert.equal(cancelled.code, 9)
  })

  test("backfill, doctor, top and migrate work while the program runs", async () => {
    const { shell, stop } = await started()
    await shell.run("schedule", "backfill", "hello", "--from", "-400d", "--yes")

    const checks = await shell.json<{ name: string; result: string }[]>("doctor")
    const picture = await shell.run("top", "--once")
    const migrated = await shell.json<{ isNew: boolean }>("migrate")
    await stop()

    assert.deepEqual(
      checks.filter(({ result }) => result === "problem"),
      [],
    )
    assert.match(picture.out, /^belfry top .*\nworkers 1 /)
    assert.equal(migrated.isNew, false)
  })

  test("run get shows who triggered a run, and schedule get shows the owner of a declared schedule", async () => {
    const { shell, stop } = await started()
    await shell.run("schedule", "trigger", "hello", "--wait")
    const [{ id } = { id: "" }] = await shell.json<RunView[]>("run", "list")
    const run = await shell.run("run", "get", id, "-o", "table")
    const schedule = await shell.run("schedule", "get", "hello", "-o", "table")
    await stop()

    assert.match(run.out, /Triggered by +manual, ada@host/)
    assert.match(schedule.out, /Owner +declared in code \(owner code\)/)
  })

  test("a failure is printed once", async () => {
    const { shell, stop } = await started()
    await shell.run("schedule", "trigger", "bad", "--wait")
    const { out } = await stop()

    assert.equal(out.match(/oh no|exit(ed)? (code|with)? ?3|code 3/g)?.length ?? 0, 1, out)
    assert.equal(out.match(/failed/gi)?.length, 1, out)
  })

  test("the log of the engine has the format of the other output: lines, or objects with --json", async () => {
    const broken = (): Store => ({
      ...memory(),
      heartbeat: () => Promise.reject(new Error("no \u001b[31mheart")),
    })
    const lines = terminal({ openStore: broken })
    const objects = terminal({ openStore: broken })
    const ended = lines.run("start", "worker")
    const endedJson = objects.run("start", "worker", "--json")
    await lines.shows(/The heartbeat fails/)
    await objects.shows(/The heartbeat fails/)
    lines.signal("SIGINT")
    objects.signal("SIGINT")

    const [forPeople, forPrograms] = [await ended, await endedJson]

    assert.match(
      forPeople.out,
      /! error {6}The heartbeat fails; trying again \(heartbeat; error: .*no \\x1b\[31mheart/,
    )
    assert.ok(!/^\{/m.test(forPeople.out + forPeople.err))
    const records = forPrograms.out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line))
    assert.deepEqual(
      records.flatMap(({ type }) => type ?? []),
      ["started", "stopping", "stopped"],
    )
    assert.ok(records.some(({ level, message }) => level === "error" && /heartbeat/.test(message)))
    assert.equal(forPrograms.err, "")
  })

  test("without schedules it prints the first steps, and with memory: a note that nothing is kept", async () => {
    const shell = terminal()
    const ended = shell.run("start", "--store", "memory:")
    await shell.shows(/There are no schedules yet/)
    shell.signal("SIGINT")

    const { code, err } = await ended

    assert.equal(code, 0)
    assert.match(err, /the memory of this process; nothing is kept/)
    assert.match(err, /There are no schedules yet[\s\S]*belfry schedule create hello/)
  })
})

test("doctor on a missing store reports it and exits 7", async () => {
  const { code, out } = await terminal().run("doctor")

  assert.equal(code, 7)
  assert.match(out, /✕ store +There is no store at/)
})
