import assert from "node:assert/strict"
import { pino } from "pino"
import { describe, test } from "vitest"
import { defineTask, jsonLogger } from "../../src/index.ts"
import { faultyStore } from "../support/faulty-store.ts"
import { Fleet } from "../support/fleet.ts"

type Line = Record<string, unknown>

function pinoLines() {
  const lines: Line[] = []
  const logger = pino(
    { level: "debug" },
    { write: (text: string) => void lines.push(JSON.parse(text) as Line) },
  )
  const find = (message: string) => lines.find((line) => line["msg"] === message)
  return { logger, lines, find }
}

describe("a pino logger", () => {
  test("the line for a fired schedule has component, schedule, task, run, priority and next run", async () => {
    await using fleet = new Fleet()
    const { logger, find } = pinoLines()
    const task = defineTask({ name: "report", run: () => undefined })
    const schedules = [task.schedule("hourly", { cron: "0 * * * *", priority: "high" })]
    await fleet.started({ tasks: [task], schedules, logger })

    await fleet.advance("1h")

    const { level: _level, time: _time, pid: _pid, hostname: _hostname, ...facts } = find("Fired")!
    assert.deepEqual(facts, {
      component: "firing",
      scheduleId: "hourly",
      task: "report",
      runId: "hourly@2026-01-01T01:00:00Z",
      priority: 10,
      nextRunAt: "2026-01-01T02:00:00.000Z",
      msg: "Fired",
    })
    assert.equal(find("Succeeded")?.["runId"], "hourly@2026-01-01T01:00:00Z")
    assert.equal(find("Started")?.["latenessMs"], 0)
  })

  test("start and stop are logged with one line each, with worker, store, roles, tasks and schedules", async () => {
    await using fleet = new Fleet()
    const { logger, lines } = pinoLines()
    const task = defineTask({ name: "report", run: () => undefined })
    const stored = task.schedule("stored", { cron: "0 * * * *" })
    const local = task.schedule("local", { cron: "0 * * * *", local: true })
    const store = Object.assign(fleet.store, { kind: "memory" })
    const node = await fleet.started({ tasks: [task], schedules: [stored, local], logger, store })
    const worker = (await node.workers()).items[0]?.id

    await fleet.until(node.stop())

    const logged = lines.filter((line) => line["component"] === "engine")
    assert.deepEqual(
      logged.map(({ msg, level, store, roles, tasks, schedules }) => [
        msg,
        level,
        store,
        roles,
        tasks,
        schedules,
      ]),
      [
        ["The scheduler started", 30, "memory", ["fire", "work"], 1, 2],
        ["The scheduler stopped", 30, undefined, undefined, undefined, undefined],
      ],
    )
    assert.ok(logged.every((line) => line["worker"] === worker))
  })

  test("a failed run is logged as an error with its text", async () => {
    await using fleet = new Fleet()
    const { logger, find } = pinoLines()
    const task = defineTask({
      name: "report",
      retry: { attempts: 1 },
      run: () => Promise.reject(new Error("no luck")),
    })
    const node = await fleet.started({ tasks: [task], logger })

    await node.enqueue(task)
    await fleet.advance(1)

    assert.equal(find("Failed")?.["level"], 50)
    assert.match(String(find("Failed")?.["error"]), /no luck/)
  })

  test("a fault of the store is logged as an error with its text, because pino would write the error object as {}", async () => {
    await using fleet = new Fleet()
    const { logger, find } = pinoLines()
    const wire = faultyStore(fleet.store)
    await fleet.started({ store: wire.store, tasks: [defineTask({ name: "t", run: () => 1 })], logger })

    wire.breakDown("claim")
    await fleet.advance("2m")

    assert.match(String(find("Runs can't be claimed; trying again")?.["error"]), /The store is away/)
  })

  test("reconcile logs the created schedules and their owner", async () => {
    await using fleet = new Fleet()
    const { logger, find } = pinoLines()
    const task = defineTask({ name: "report", run: () => undefined })
    const schedules = [task.schedule("hourly", { cron: "0 * * * *" })]

    await fleet.started({ tasks: [task], schedules, owner: "billing", logger })

    const line = find("Declared schedules reconciled")
    assert.deepEqual(
      [line?.["component"], line?.["owner"], line?.["created"]],
      ["reconcile", "billing", ["hourly"]],
    )
  })
})

describe("the logger that comes with Belfry", () => {
  test("jsonLogger writes one JSON object per line, by default only warnings and errors", () => {
    const written: string[] = []
    const now = () => new Date("2026-01-01T00:00:00Z")
    const quiet = jsonLogger({ write: (line) => void written.push(line), now })
    const loud = jsonLogger({ level: "debug", write: (line) => void written.push(line), now })

    quiet.info({ component: "firing" }, "Fired")
    quiet.warn({ component: "engine" }, "Careful")
    loud.debug({ component: "worker", big: 10n }, "Started")

    assert.deepEqual(written, [
      '{"level":"warn","time":"2026-01-01T00:00:00.000Z","component":"engine","message":"Careful"}\n',
      '{"level":"debug","time":"2026-01-01T00:00:00.000Z","component":"worker","big":"10","message":"Started"}\n',
    ])
  })

  test("jsonLogger never throws, whatever the fields are", () => {
    const written: string[] = []
    const logger = jsonLogger({ write: (line) => void written.push(line) })
    const circular: Record<string, unknown> = { component: "firing" }
    circular["self"] = circular

    logger.error(circular, "Trouble")
    logger.error({ error: new Error("no luck") }, "Failed")

    assert.match(
      written[0]!,
      /"level":"error".*"component":"firing".*"message":"Trouble","unreadable":"TypeError/,
    )
    assert.match(written[1]!, /"error":\{"name":"Error","message":"no luck"\}/)
  })
})
