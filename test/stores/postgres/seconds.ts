import assert from "node:assert/strict"
import { createScheduler, defineTask, type Scheduler, type SchedulerOptions, silentLogger } from "belfry"
import type pg from "pg"
import { atTheEnd, until } from "./scratch.ts"

/** A started scheduler with two schedules that are due every second, and the ids of the runs it has begun. */
export async function tickingScheduler(options: Pick<SchedulerOptions, "store" | "lease" | "pollInterval">) {
  const begun: string[] = []
  const tick = defineTask({ name: "tick", run: ({ run }) => void begun.push(run.id) })
  const ids = ["a", "b"]
  const scheduler = createScheduler({
    ...options,
    tasks: [tick],
    schedules: ids.map((id) => tick.schedule(id, { cron: "* * * * * *", overlap: "allow", catchUp: "all" })),
    logger: silentLogger,
  })
  await scheduler.start()
  atTheEnd(() => scheduler.stop())
  return { scheduler, begun, ids }
}

/** Asserts that each of the schedules, which are due every second, has one run for every second from its first to its last. */
export async function assertRunEverySecond(
  psql: pg.Client,
  { schedules, schema = "belfry" }: { schedules: number; schema?: string },
): Promise<void> {
  const { rows } = await psql.query(`
    select count(*)::int as runs, count(distinct scheduled_for)::int as instants,
      extract(epoch from max(scheduled_for) - min(scheduled_for))::int + 1 as seconds
    from ${schema}.runs
    where schedule_id is not null
    group by schedule_id`)
  assert.equal(rows.length, schedules)
  for (const { runs, instants, seconds } of rows) assert.deepEqual([runs, instants], [seconds, seconds])
}

/** Pauses the schedules, and stops the scheduler when all their runs are finished. */
export async function stopWhenDone(
  scheduler: Scheduler,
  psql: pg.Client,
  schedules: readonly string[],
): Promise<void> {
  for (const id of schedules) await scheduler.schedules.pause(id)
  const left = "select from belfry.runs where state in ('pending', 'running')"
  await until(async () => (await psql.query(left)).rowCount === 0, "all runs are performed")
  await scheduler.stop()
}
