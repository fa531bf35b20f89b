import type { Instant } from "../../../core/instant.ts"
import type { FirePlan } from "../../../core/plan.ts"
import type { NewRun } from "../../../core/run.ts"
import type { FireAnswer, Hint } from "../../../store/store.ts"
import type { Connection } from "../connection.ts"
import { progressValues } from "../schedule-rows.ts"
import { holderOf, insertRun, runExists } from "./enqueuing.ts"
import { takeVersions } from "./versions.ts"

export const SELECT_STEPS = `
  select id, version, next_run_at
  from belfry_schedules
  where id in (select value from json_each(?))`

const UPDATE_PROGRESS = `
  update belfry_schedules
  set version = ?,
    next_run_at = ?,
    covered_until = ?,
    overrides = ?,
    paused = ?,
    run_count = ?,
    last_run_id = ?,
    last_run_at = ?,
    last_error = ?,
    finished_at = ?
  where id = ?`

const DELETE_FINISHED = `
  delete from belfry_schedules
  where id = ?`

/**
 * All plans in one transaction, under the file's one write lock: what is read about a plan stays true while it is applied,
 * so a plan is judged first and then applied whole.
 */
export function firePlans(
  connection: Connection,
  plans: readonly FirePlan[],
  now: Instant,
): { answers: readonly FireAnswer[]; news: readonly Hint[] } {
  if (plans.length === 0) return { answers: [], news: [] }
  const news = new Set<Hint>()
  // Numbers that no plan uses are lost, which costs nothing: versions only have to be new.
  let version = takeVersions(connection, plans.length) - plans.length
  const steps = stepsOf(connection, plans)
  const answers = plans.map((plan) => firePlan(connection, plan, { version: ++version, steps, now, news }))
  return { answers, news: [...news] }
}

function firePlan(
  connection: Connection,
  plan: FirePlan,
  { version, steps, now, news }: { version: number; steps: Steps; now: Instant; news: Set<Hint> },
): FireAnswer {
  const before = steps.get(plan.scheduleId)
  if (before?.version !== plan.ifVersion) return { outcome: "stale" }
  if (isHeld(connection, plan.runs)) return { outcome: "held" }

  // It has moved now: a second plan for it in the same call is a step behind.
  steps.delete(plan.scheduleId)
  if (plan.progress === null) {
    connection.prepare(DELETE_FINISHED).run(plan.scheduleId)
  } else {
    connection.prepare(UPDATE_PROGRESS).run(version, ...progressValues(plan.progress), plan.scheduleId)
    // Going on as expected is no news: everyone who would listen has read the schedule. Coming forward is.
    if (isSooner(plan.progress.nextRunAt, before.next_run_at)) news.add("schedules")
  }
  const created = plan.runs.filter((run) => insertRun(connection, run, now)).map((run) => run.id)
  if (created.length > 0) news.add("runs")
  return { outcome: "done", created }
}

/** Where the plans' schedules stand, read once for the whole call. */
type Steps = Map<string, StepRow>

function stepsOf(connection: Connection, plans: readonly FirePlan[]): Steps {
  const ids = JSON.stringify(plans.map((plan) => plan.scheduleId))
  const rows = connection.prepare(SELECT_STEPS).all(ids) as StepRow[]
  return new Map(rows.map((row) => [row.id, row]))
}

interface StepRow {
  readonly id: string
  readonly version: number
  readonly next_run_at: Instant | null
}

/** Whether a new run of the plan needs a live key that another run has, stored or in the same plan. */
function isHeld(connection: Connection, runs: readonly NewRun[]): boolean {
  const taken = new Set<string>()
  for (const { id, state, liveKey } of runs) {
    if (state !== "pending" || liveKey === null) continue
    const holder = holderOf(connection, liveKey)
    const isFree = holder === null && !taken.has(liveKey)
    if (!isFree && holder !== id && !runExists(connection, id)) return true
    taken.add(liveKey)
  }
  return false
}

function isSooner(next: Instant | null, before: Instant | null): boolean {
  return next !== null && (before === null || next < before)
}
