import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { createScheduler, silentLogger } from "belfry"
import { postgres, type SqlFunctionsOptions, sqlFunctions } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, describe, inject, onTestFinished, test } from "vitest"
import { faultProxy } from "../../support/fault-proxy.ts"
import { freshDatabase } from "../../support/fresh-database.ts"
import { type PgBouncer, startPgBouncer } from "../../support/pgbouncer.ts"
import { performTask } from "../../support/task-run.ts"

/** However a run ends early, its function ends on the server, and nothing that it did is committed. */

let url: string
let psql: pg.Client

beforeAll(async () => {
  url = await freshDatabase()
  psql = new pg.Client(url)
  await psql.connect()
  await psql.query(`
    create schema app;
    create table app.seen (note text);
    create function app.naps(payload jsonb) returns jsonb language plpgsql as $$
    begin
      insert into app.seen values ('before');
      perform pg_sleep(payload::float);
      insert into app.seen values ('after');
      return '{"success": true}';
    end $$;
    create function app.deaf() returns jsonb language plpgsql as $$
    begin
      insert into app.seen values ('before');
      loop
        begin
          perform pg_sleep(60);
        exception when query_canceled then null;
        end;
      end loop;
    end $$;
  `)
})
afterAll(() => psql?.end())
beforeEach(() => psql.query("truncate app.seen"))

const seen = async () => (await psql.query("select note from app.seen")).rows.map(({ note }) => note)

/** The server's processes that are asleep in a function. */
async function sleepers(): Promise<readonly number[]> {
  const { rows } = await psql.query(
    "select pid from pg_stat_activity where datname = current_database() and wait_event = 'PgSleep'",
  )
  return rows.map(({ pid }) => pid)
}

async function untilAsleep(count = 1): Promise<readonly number[]> {
  for (;;) {
    const pids = await sleepers()
    if (pids.length >= count) return pids
    await sleep(10)
  }
}

async function untilGone(): Promise<number> {
  const startedAt = performance.now()
  while ((await sleepers()).length > 0) await sleep(10)
  return performance.now() - startedAt
}

function taskOn(address: string, options: Partial<SqlFunctionsOptions> = {}) {
  const task = sqlFunctions({ url: address, schemas: ["app"], ...options })
  onTestFinished(() => task.close())
  return task
}

const NAP = { function: "app.naps", payload: 60 }

describe("a run that is aborted", () => {
  test("has its function cancelled on the server and rolled back, and then its connection is used again", async () => {
    const task = taskOn(url, { connections: 1 })
    const controller = new AbortController()
    const { ended } = performTask(task, NAP, { signal: controller.signal })
    const before = await untilAsleep()

    controller.abort(new Error("The run was cancelled"))

    await assert.rejects(ended, /The run was cancelled/)
    assert.deepEqual(await sleepers(), [], "it is over when the task says so")
    assert.deepEqual(await seen(), [])
    const next = performTask(task, { function: "app.naps", payload: 0.2 }).ended
    assert.deepEqual(await untilAsleep(), before, "the same process of the server")
    assert.equal((await next).success, true)
  })

  test("is stopped although every connection of the pool is busy", async () => {
    const task = taskOn(url, { connections: 2 })
    const controllers = [new AbortController(), new AbortController()]
    const runs = controllers.map(({ signal }) => performTask(task, NAP, { signal }).ended)
    await untilAsleep(2)

    for (const controller of controllers) controller.abort(new Error("stopping"))

    await Promise.all(runs.map((run) => assert.rejects(run, /stopping/)))
    assert.deepEqual(await sleepers(), [])
    assert.deepEqual(await seen(), [])
  })

  test("leaves others alone, of the same function and the same pool", async () => {
    const task = taskOn(url)
    const controller = new AbortController()
    const kept = performTask(task, { function: "app.naps", payload: 1 }).ended
    const dropped = performTask(task, NAP, { signal: controller.signal }).ended
    await untilAsleep(2)

    controller.abort(new Error("enough"))

    await assert.rejects(dropped, /enough/)
    assert.equal((await kept).success, true)
    assert.deepEqual(await seen(), ["before", "after"])
  })

  test("needs no rights for it: a user without any cancels what it runs as another role", async () => {
    const [user, role] = ["user", "role"].map((kind) => `${kind}_${new URL(url).pathname.slice(-6)}`)
    await psql.query(
      `create role ${user} login; create role ${role}; grant ${role} to ${user};
       grant usage on schema app to ${role}; grant insert on app.seen to ${role}`,
    )
    onTestFinished(
      async () => void (await psql.query(`drop owned by ${user}, ${role}; drop role ${user}, ${role}`)),
    )
    const address = new URL(url)
    address.username = user!
    const task = sqlFunctions({ url: address.href, schemas: ["app"], role: role! })
    const controller = new AbortController()
    const { ended, lines } = performTask(task, NAP, { signal: controller.signal })
    await untilAsleep()
    const startedAt = performance.now()

    controller.abort(new Error("enough"))

    await assert.rejects(ended, /enough/)
    await task.close()
    assert.ok(performance.now() - startedAt < 1_000, "by the first order")
    assert.deepEqual(lines, [])
    assert.deepEqual(await sleepers(), [])
    assert.deepEqual(await seen(), [])
  })

  test("ends a function that catches its cancelling, by ending its connection", async () => {
    const controller = new AbortController()
    const { ended } = performTask(taskOn(url), { function: "deaf" }, { signal: controller.signal })
    await untilAsleep()
    const startedAt = performance.now()

    controller.abort(new Error("enough"))

    await assert.rejects(ended, /enough/)
    assert.ok(performance.now() - startedAt < 4_500, "within the engine's grace")
    assert.deepEqual(await sleepers(), [])
    assert.deepEqual(await seen(), [])
  })

  test("in the moment in which its function ends commits nothing, or says that it was done", async () => {
    const task = taskOn(url)
    await performTask(task, { function: "app.naps", payload: 0 }).ended
    for (let delayMs = 0; delayMs < 40; delayMs += 2) {
      await psql.query("truncate app.seen")
      const controller = new AbortController()
      const { ended } = performTask(
        task,
        { function: "app.naps", payload: 0.02 },
        { signal: controller.signal },
      )
      await sleep(delayMs)
      controller.abort(new Error("enough"))

      const isDone = await ended.then(
        ({ success }) => success,
        () => false,
      )

      assert.deepEqual(await seen(), isDone ? ["before", "after"] : [], `after ${delayMs} ms`)
    }
  })
})

describe("in a scheduler", () => {
  async function running(options: { timeout?: "300ms" } = {}) {
    const sql = taskOn(url)
    const scheduler = createScheduler({
      store: postgres(url),
      tasks: [sql],
      lease: "1s",
      logger: silentLogger,
    })
    onTestFinished(() => scheduler.stop({ timeout: 0 }))
    await scheduler.start()
    const { runId } = await scheduler.enqueue(sql, NAP, { ...options, retry: { attempts: 1 } })
    await untilAsleep()
    return { sql, scheduler, runId }
  }

  test("a cancelled run's function ends within a moment", async () => {
    const { scheduler, runId } = await running()

    await scheduler.runs.cancel(runId)

    assert.ok((await untilGone()) < 5_000)
    assert.equal((await scheduler.runs.get(runId))?.state, "cancelled")
    assert.deepEqual(await seen(), [])
  })

  test("a run that exceeds its schedule's timeout has timed out, and its function has ended", async () => {
    const { scheduler, runId } = await running({ timeout: "300ms" })

    const run = await scheduler.runs.wait(runId)

    assert.equal(run?.error, "Timed out after 300ms")
    assert.equal(run?.attempts.at(-1)?.outcome, "timeout")
    assert.deepEqual(await sleepers(), [])
    assert.deepEqual(await seen(), [])
  })

  test("a run that was lost to another worker has its function ended", async () => {
    const { runId } = await running()

    await psql.query(
      "update belfry.runs set worker_id = 'another', attempt = attempt + 1, claimable_at = now() + interval '1 hour' where id = $1",
      [runId],
    )

    assert.ok((await untilGone()) < 10_000)
    assert.deepEqual(await seen(), [])
  })

  test("a stop gives the run back, and closing the task waits until its function has ended", async () => {
    const { sql, scheduler } = await running()

    await scheduler.stop({ timeout: 0 })
    await sql.close()

    assert.deepEqual(await sleepers(), [])
    assert.deepEqual(await seen(), [])
    const { rows } = await psql.query(
      "select state, attempt from belfry.runs order by created_at desc limit 1",
    )
    assert.deepEqual(rows, [{ state: "pending", attempt: 1 }])
    const open =
      "select from pg_stat_activity where datname = current_database() and application_name = 'belfry'"
    while ((await psql.query(open)).rowCount !== 0) await sleep(10)
  })
})

/** Whether the server sees by itself that a client is gone. */
async function isWatching(): Promise<boolean> {
  const { rows } = await psql.query("select current_setting('server_version_num')::int >= 140000 as can")
  return rows[0].can && process.platform === "linux"
}

test("a worker that is killed commits nothing, and the server ends its function by itself", async ({
  skip,
}) => {
  skip(!(await isWatching()), "the server can't watch its clients")
  const program = `
    import { performTask } from "./test/support/task-run.ts"
    import { sqlFunctions } from "./src/postgres.ts"
    await performTask(sqlFunctions({ url: ${JSON.stringify(url)}, schemas: ["app"] }), ${JSON.stringify(NAP)}).ended`
  const worker = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program])
  await untilAsleep()

  worker.kill("SIGKILL")
  await once(worker, "exit")

  assert.ok((await untilGone()) < 10_000)
  assert.deepEqual(await seen(), [])
})

describe("a network that fails", () => {
  async function faulty() {
    const proxy = await faultProxy(inject("postgres").port)
    onTestFinished(() => proxy.close())
    return { proxy, task: taskOn(proxy.through(url)) }
  }

  test("in the middle of a function fails the run, and the program lives", async () => {
    const { proxy, task } = await faulty()
    const { ended } = performTask(task, { function: "app.naps", payload: 5 })
    await untilAsleep()

    proxy.cut()

    const { success, message } = await ended
    assert.equal(success, false)
    assert.match(message, /^PostgreSQL can't be used: /)
    await untilGone()
    assert.deepEqual(await seen(), [])
    assert.equal((await performTask(task, { function: "app.naps", payload: 0 }).ended).success, true)
  })

  test("while the work is being committed fails the run, and says that it may be done", async () => {
    const { proxy, task } = await faulty()
    const lost = proxy.loseAnswer("commit")

    const { success, message } = await performTask(task, { function: "app.naps", payload: 0 }).ended

    await lost
    assert.equal(success, false)
    assert.match(
      message,
      /^The connection broke while the work of app\.naps\(jsonb\) was being committed: whether it is done is not known/,
    )
    assert.deepEqual(await seen(), ["before", "after"])
  })

  test("and lets no order through doesn't keep an aborted run beyond the engine's grace", async () => {
    const { proxy, task } = await faulty()
    const controller = new AbortController()
    const { ended } = performTask(task, { function: "app.naps", payload: 6 }, { signal: controller.signal })
    await untilAsleep()
    const startedAt = performance.now()

    proxy.blackhole()
    controller.abort(new Error("enough"))

    await assert.rejects(ended, /enough/)
    assert.ok(performance.now() - startedAt < 4_500)
    await untilGone()
    assert.deepEqual(await seen(), [], "though the function came to its end, nobody committed it")
  })
})

describe.skipIf(!inject("hasPgBouncer"))("behind PgBouncer, in transaction mode", () => {
  async function bouncer(poolSize: number): Promise<PgBouncer> {
    const started = await startPgBouncer(inject("postgres"), { poolSize })
    onTestFinished(() => started.stop())
    return started
  }

  test("functions are called and cancelled, and leave no settings to whoever has the connection next", async () => {
    const address = (await bouncer(3)).through(url)
    const task = taskOn(address, { connections: 2 })
    const controller = new AbortController()
    const dropped = performTask(task, NAP, { signal: controller.signal }).ended
    const kept = performTask(task, { function: "app.naps", payload: 0.5 }).ended
    await untilAsleep(2)

    controller.abort(new Error("enough"))

    await assert.rejects(dropped, /enough/)
    assert.equal((await kept).success, true)
    assert.deepEqual(await seen(), ["before", "after"])
    const client = new pg.Client(address)
    await client.connect()
    const { rows } = await client.query(
      "select current_setting('belfry.run_id', true) as id, current_setting('statement_timeout') as timeout, current_setting('search_path') as path",
    )
    await client.end()
    assert.deepEqual([rows[0].id || "", rows[0].timeout, rows[0].path], ["", "0", '"$user", public'])
  })

  test("a function is ended although there is no connection to cancel it from", async ({ skip }) => {
    skip(!(await isWatching()), "the server can't watch its clients")
    const task = taskOn((await bouncer(1)).through(url))
    const controller = new AbortController()
    const { ended } = performTask(task, NAP, { signal: controller.signal })
    await untilAsleep()
    const startedAt = performance.now()

    controller.abort(new Error("enough"))

    await assert.rejects(ended, /enough/)
    assert.ok(performance.now() - startedAt < 4_500, "within the engine's grace")
    assert.ok((await untilGone()) < 10_000)
    assert.deepEqual(await seen(), [])
  })
})
