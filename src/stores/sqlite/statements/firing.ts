import type { Instant } from "../../../core/instant.ts"
import type { FirePlan } from "../../../core/plan.ts"
import type { NewRun } from "../../../core/run.ts"
import type { FireAnswer, Hint } from "../../../store/store.ts"
import { isSooner } from "../../kit/is-sooner.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"
import { progressValues, VERSION } from "../schedule-rows.ts"
import { holderOf, insertRun, runExists } from "./enqueuing.ts"
import { addEntry } from "./journal.ts"
import { takeVersions } from "./versions.ts"

export const SELECT_STEPS = `
  select id, ${VERSION} as version, next_run_at
  from belfry_schedules
  where id in (select value from json_each(?))`

const UPDATE_PROGRESS = `
  update belfry_schedules
  set version = ?,
    next_run_at = ?,
    covered_until = ?,
    overrides = ?,
    paused = ?,
    fired_count = ?,
    last_error = ?,
    finished_at = ?,
    run_count = run_count + ?,
    last_run_id = coalesce(?, last_run_id),
    last_run_at = coalesce(?, last_run_at)
  where id = ?`

const DELETE_FINISHED = `
  delete from belfry_schedules
  where id = ?`

/**
 * All plans in one transaction, under the file's one write lock: what is read about a plan stays true while it is applied,
 * so a plan is judged first and then applied whole.
 */
export function firePlans(
  connection: Prepared,
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
  connection: Prepared,
  plan: FirePlan,
  { version, steps, now, news }: { version: number; steps: Steps; now: Instant; news: Set<Hint> },
): FireAnswer {
  const before = steps.get(plan.scheduleId)
  if (before?.version !== plan.ifVersion) return { outcome: "stale" }
  if (isHeld(connection, plan.runs)) return { outcome: "held" }

  // It has moved now: a second plan for it in the same call is a step behind.
  steps.delete(plan.scheduleId)
  const created = plan.runs.filter((run) => insertRun(connection, run, now))
  if (plan.progress === null) {
    connection.prepare(DELETE_FINISHED).run(plan.scheduleId)
  } else {
    const values = [...progressValues(plan.progress), ...tallyOf(created, now)]
    connection.prepare(UPDATE_PROGRESS).run(version, ...values, plan.scheduleId)
    // Going on as expected is no news: everyone who would listen has read the schedule. Coming forward is.
    if (isSooner(plan.progress.nextRunAt, before.next_run_at)) news.add("schedules")
  }
  if (plan.entry !== undefined) {
    addEntry(connection, plan.entry, now)
    news.add("schedules")
  }
  if (created.length > 0) news.add("runs")
  return { outcome: "done", created: created.map((run) => run.id) }
}

/** How many runs more, the last of them, and when it was created; records of what didn't run don't count. */
function tallyOf(created: readonly NewRun[], now: Instant): readonly Value[] {
  const runs = created.filter((run) => run.state === "pending")
  const last = runs.at(-1)
  return last === undefined ? [0, null, null] : [runs.length, last.id, now]
}

/** Where the plans' schedules stand, read once for the whole call. */
type Steps = Map<string, StepRow>

function stepsOf(connection: Prepared, plans: readonly FirePlan[]): Steps {
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
function isHeld(connection: Prepared, runs: readonly NewRun[]): boolean {
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
