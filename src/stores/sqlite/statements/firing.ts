import type { FirePlan } from "../../../core/planning/plan.ts"
import type { NewRun } from "../../../core/run/run.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { FireAnswer } from "../../../store/store.ts"
import { isDueSooner } from "../../kit/hints-of-writes.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"
import { progressValues, VERSION } from "../schedule-rows.ts"
import { holderOf, insertRun, runExists } from "./enqueuing.ts"
import { addEntry } from "./journal.ts"
import { takeVersions } from "./versions.ts"

export const SELECT_PLANNED = `
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
 * Applies all plans in one transaction, under the file's write lock: rows that are read can't change, so each plan is checked
 * first and then applied as a whole.
 */
export function firePlans(
  connection: Prepared,
  plans: readonly FirePlan[],
  now: Instant,
): { answers: readonly FireAnswer[]; isSooner: readonly boolean[] } {
  if (plans.length === 0) return { answers: [], isSooner: [] }
  // Stale and held plans leave unused version numbers, which is harmless: versions only have to be new.
  let version = takeVersions(connection, plans.length) - plans.length
  const stored = storedVersionsOf(connection, plans)
  const isSooner = plans.map((plan) => isDueSooner(plan, stored.get(plan.scheduleId)?.next_run_at ?? null))
  const answers = plans.map((plan) => firePlan(connection, plan, { version: ++version, stored, now }))
  return { answers, isSooner }
}

function firePlan(
  connection: Prepared,
  plan: FirePlan,
  { version, stored, now }: { version: number; stored: StoredVersions; now: Instant },
): FireAnswer {
  const before = stored.get(plan.scheduleId)
  if (before?.version !== plan.ifVersion) return { outcome: "stale" }
  if (isHeld(connection, plan.runs)) return { outcome: "held" }

  // A second plan for the schedule in the same call is stale.
  stored.delete(plan.scheduleId)
  const created = plan.runs.filter((run) => insertRun(connection, run, now))
  if (plan.progress === null) {
    connection.prepare(DELETE_FINISHED).run(plan.scheduleId)
  } else {
    const values = [...progressValues(plan.progress), ...tallyOf(created, now)]
    connection.prepare(UPDATE_PROGRESS).run(version, ...values, plan.scheduleId)
  }
  if (plan.entry !== undefined) addEntry(connection, plan.entry, now)
  return { outcome: "done", created: created.map((run) => run.id) }
}

/** The number of new runs, the last of them, and when it was created. Skips don't count. */
function tallyOf(created: readonly NewRun[], now: Instant): readonly Value[] {
  const runs = created.filter((run) => run.state === "pending")
  const last = runs.at(-1)
  return last === undefined ? [0, null, null] : [runs.length, last.id, now]
}

/** The stored versions of the plans' schedules, read once for the whole call. */
type StoredVersions = Map<string, VersionRow>

function storedVersionsOf(connection: Prepared, plans: readonly FirePlan[]): StoredVersions {
  const ids = JSON.stringify(plans.map((plan) => plan.scheduleId))
  const rows = connection.prepare(SELECT_PLANNED).all(ids) as VersionRow[]
  return new Map(rows.map((row) => [row.id, row]))
}

interface VersionRow {
  readonly id: string
  readonly version: number
  readonly next_run_at: Instant | null
}

/** Whether a new run of the plan needs a live key that another run holds, stored or in the same plan. */
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
