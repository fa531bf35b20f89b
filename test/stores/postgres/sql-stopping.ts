import { type ChildProcess, spawn } from "node:child_process"
import { setTimeout as sleep } from "node:timers/promises"
import { type SqlFunctionsOptions, type SqlTask, sqlFunctions } from "belfry/postgres"
import pg from "pg"
import { afterAll, beforeAll, beforeEach, onTestFinished } from "vitest"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { until } from "./scratch.ts"

/** A call of a function that sleeps for an hour, longer than any test. */
export const NAP = { function: "app.naps", payload: 3_600 }

/** A call of a function that waits until `unblockWaits` is called. */
export const WAIT = { function: "app.waits" }

const FUNCTIONS = `
  create schema app;
  create table app.seen (note text);
  create function app.naps(payload jsonb) returns jsonb language plpgsql as $$
  begin
    insert into app.seen values ('before');
    perform pg_sleep(payload::float);
    insert into app.seen values ('after');
    return jsonb_build_object('success', true, 'details', pg_backend_pid());
  end $$;
  create function app.waits() returns jsonb language plpgsql as $$
  begin
    insert into app.seen values ('before');
    perform pg_advisory_xact_lock(1);
    insert into app.seen values ('after');
    return '{"success": true}';
  end $$;
  -- Catches each cancel request, and then takes the next lock, from 101 on.
  create function app.deaf() returns jsonb language plpgsql as $$
  declare
    times integer := 0;
  begin
    insert into app.seen values ('before');
    loop
      begin
        perform pg_sleep(3600);
      exception when query_canceled then
        times := times + 1;
        perform pg_advisory_lock(100 + times);
      end;
    end loop;
  end $$;`

/** Slow functions, and their state on the server. */
export interface SlowFunctions {
  url: string
  psql: pg.Client
  task(address: string, options?: Partial<SqlFunctionsOptions>): SqlTask
  /** Starts a process that calls `NAP`, so that a test can kill it. */
  startWorker(): ChildProcess
  /** The notes that functions have written. */
  seen(): Promise<readonly string[]>
  /** The backend processes that are running a function. */
  busy(): Promise<readonly number[]>
  untilBusy(count?: number): Promise<readonly number[]>
  untilIdle(): Promise<void>
  /** Makes `WAIT` calls wait until `unblockWaits`. */
  blockWaits(): Promise<void>
  unblockWaits(): Promise<void>
}

/** Shared by the tests of a file. */
export function slowFunctions(): SlowFunctions {
  const self: SlowFunctions = {
    url: "",
    psql: null as never,
    task(address, options = {}) {
      const task = sqlFunctions({ url: address, schemas: ["app"], lockTimeout: "1h", ...options })
      onTestFinished(() => task.close())
      return task
    },
    startWorker() {
      const program = `
        import { performTask } from "./test/support/task-run.ts"
        import { sqlFunctions } from "./src/postgres.ts"
        await performTask(sqlFunctions({ url: ${JSON.stringify(self.url)}, schemas: ["app"] }), ${JSON.stringify(NAP)}).ended`
      return spawn(process.execPath, ["--import", "tsx", "--input-type=module", "-e", program])
    },
    seen: async () => (await self.psql.query("select note from app.seen")).rows.map(({ note }) => note),
    async busy() {
      const { rows } = await self.psql.query(
        "select pid from pg_stat_activity where datname = current_database() and wait_event in ('PgSleep', 'advisory')",
      )
      return rows.map(({ pid }) => pid)
    },
    async untilBusy(count = 1) {
      await until(async () => (await self.busy()).length >= count, "functions are busy")
      return self.busy()
    },
    async untilIdle() {
      // Without a time limit, because some tests measure how long this takes.
      while ((await self.busy()).length > 0) await sleep(10)
    },
    blockWaits: async () => void (await self.psql.query("select pg_advisory_lock(1)")),
    unblockWaits: async () => void (await self.psql.query("select pg_advisory_unlock_all()")),
  }

  beforeAll(async () => {
    self.url = await migratedDatabase()
    self.psql = new pg.Client(self.url)
    await self.psql.connect()
    await self.psql.query(FUNCTIONS)
  })
  afterAll(() => self.psql?.end())
  beforeEach(async () => {
    await self.unblockWaits()
    await self.psql.query("truncate app.seen")
  })

  return self
}

/** Whether the server detects that a client is gone while a statement runs: PostgreSQL 14 on Linux. */
export async function detectsLostClients(psql: pg.Client): Promise<boolean> {
  const { rows } = await psql.query("select current_setting('server_version_num')::int >= 140000 as can")
  return rows[0].can && process.platform === "linux"
}
