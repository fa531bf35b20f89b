import type { RunRef } from "../../../core/run/run.ts"
import type { Schedule } from "../../../core/schedule/schedule.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { DueRequest, DueSchedules } from "../../../store/store.ts"
import { DIVIDED_MAX } from "../../kit/shares.ts"
import type { Runner } from "../database.ts"
import { instantOf, jsonOf, ms, numberOf } from "../rows.ts"
import { scheduleOf } from "../schedule-rows.ts"
import { versionedName } from "../schema/engine-function.ts"

export const SELECT_DUE = `select * from belfry.${versionedName("due")}($1, $2, $3, $4)`

/**
 * By runs_schedule_completed, newest first, and by `ends`: a run may have been pruned, and runs of local schedules have no
 * recorded ends. Sent only if a schedule depends on others.
 */
const SELECT_SUCCESSES = `
  select dependency.id,
    ${ms(`greatest(
      (
        select e.last_success_at
        from belfry.ends as e
        where e.schedule_id = dependency.id
      ),
      (
        select r.completed_at
        from belfry.runs as r
        where r.schedule_id = dependency.id
          and r.completed_at is not null
          and r.state = 'succeeded'
        order by r.completed_at desc
        limit 1
      )
    )`)}
  from pg_catalog.unnest($1::text[]) as dependency(id)`

const NOW = 0
const NEXT = 1
const NEXT_COUNT = 2
const UNFINISHED = 3
const SCHEDULE = 4

export async function dueSchedules(
  runner: Runner,
  { limit, aheadMs = 0 }: DueRequest,
  reader: number,
): Promise<DueSchedules> {
  const divided = Math.max(limit, DIVIDED_MAX)
  const rows = await runner.rows(SELECT_DUE, [limit, divided, reader, aheadMs])
  const found = rows
    .filter((row) => row[SCHEDULE] !== null)
    .map((row) => ({ schedule: scheduleOf(row, SCHEDULE), unfinished: unfinishedOf(row[UNFINISHED]!) }))
  const successes = await successesFor(
    runner,
    found.map(({ schedule }) => schedule),
  )
  const due = found.map(({ schedule, unfinished }) => {
    const lastSuccesses = schedule.dependsOn.map(({ scheduleId }) => [
      scheduleId,
      successes.get(scheduleId) ?? null,
    ])
    return { schedule, facts: { unfinished, lastSuccessAt: Object.fromEntries(lastSuccesses) } }
  })
  return {
    now: instantOf(rows[0]![NOW]!),
    due,
    nextDueAt: numberOf(rows[0]![NEXT]!),
    nextDueCount: Number(rows[0]![NEXT_COUNT]),
  }
}

type Ref = readonly [RunRef["id"], RunRef["state"], number, number, number]

function unfinishedOf(text: string | null): readonly RunRef[] {
  if (text === null) return []
  return jsonOf<readonly Ref[]>(text).map(([id, state, attempt, failures, lost]) => ({
    ...{ id, state, attempt, failures, lost },
  }))
}

async function successesFor(
  runner: Runner,
  schedules: readonly Schedule[],
): Promise<ReadonlyMap<string, Instant | null>> {
  const ids = new Set(schedules.flatMap(({ dependsOn }) => dependsOn.map(({ scheduleId }) => scheduleId)))
  if (ids.size === 0) return new Map()
  const rows = await runner.rows(SELECT_SUCCESSES, [[...ids]])
  return new Map(rows.map(([id, at]) => [id!, numberOf(at!)]))
}
