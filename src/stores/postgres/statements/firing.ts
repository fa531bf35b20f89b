import type { FirePlan } from "../../../core/planning/plan.ts"
import type { FireAnswer } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout, isUniqueViolation } from "../faults.ts"
import { listsOf } from "../lists.ts"
import type { Row } from "../rows.ts"
import { NEW_RUN_PARAMETERS, newRunLists } from "../run-lists.ts"
import { FIRE_PLAN } from "../schedule-rows.ts"
import { versionedName } from "../schema/engine-function.ts"
import { entryLists, insertEntries } from "./journal.ts"

/** The plans, their runs, and the plan of each run. */
export const FIRE_PARAMETERS = FIRE_PLAN.length + NEW_RUN_PARAMETERS + 1
const PARAMETERS = Array.from({ length: FIRE_PARAMETERS }, (_, index) => `$${index + 1}`).join(", ")

export const FIRE = `
  select f.plan, f.is_applied, f.is_current, f.created, f.is_sooner
  from belfry.${versionedName("fire")}(${PARAMETERS}) as f`

/** Like `FIRE`, and stores the journal entries of applied plans. More parameters: the plan of each entry, and the entries. */
const FIRE_WITH_ENTRIES = `
  with fired as materialized (${FIRE}
  ),
  entries as (${insertEntries(
    FIRE_PARAMETERS + 2,
    `join fired on fired.is_applied and fired.plan = ($${FIRE_PARAMETERS + 1}::bigint[])[e.place]`,
  )}
  )
  select fired.plan, fired.is_applied, fired.is_current, fired.created, fired.is_sooner
  from fired
  order by fired.plan`

export const NO_PLANS = Array.from({ length: FIRE_PARAMETERS }, () => null)

export interface Fired {
  readonly answer: FireAnswer
  /** The schedule is now due earlier than listeners expect. */
  readonly isSooner: boolean
}

export async function firePlans(runner: Runner, plans: readonly FirePlan[]): Promise<readonly Fired[]> {
  if (plans.length === 0) return []
  // If a schedule occurs twice in one call, its second plan is stale: the first has changed the schedule.
  const seen = new Set<string>()
  const isSecond = plans.map(({ scheduleId }) => seen.has(scheduleId) || !seen.add(scheduleId))
  const firsts = plans.filter((_, index) => !isSecond[index])
  const remaining = [...(await fireDistinct(runner, firsts))]
  return isSecond.map((is) => (is ? notFired("stale") : remaining.shift()!))
}

async function fireDistinct(runner: Runner, plans: readonly FirePlan[]): Promise<readonly Fired[]> {
  const isImpossible = plans.map(repeatsLiveKey)
  const possible = plans.filter((_, index) => !isImpossible[index])
  const remaining = [...(await fireTogether(runner, possible))]
  return isImpossible.map((is) => (is ? notFired("held") : remaining.shift()!))
}

/** Whether two new runs of the plan have the same live key. Such a plan can't be applied as a whole. */
function repeatsLiveKey({ runs }: FirePlan): boolean {
  const keys = runs
    .filter(({ state, liveKey }) => state === "pending" && liveKey !== null)
    .map((run) => run.liveKey)
  return new Set(keys).size < keys.length
}

/** Two plans may collide on a live key this often before the call gives up. */
const TRIES = 20

async function fireTogether(
  runner: Runner,
  plans: readonly FirePlan[],
  tries = 1,
): Promise<readonly Fired[]> {
  if (plans.length === 0) return []
  try {
    return (await sendPlans(runner, plans)).map(firedOf)
  } catch (error) {
    const { cause } = error as Error
    const isHeld = isLockTimeout(cause)
    if ((!isUniqueViolation(cause) && !isHeld) || tries >= TRIES) throw error
    // A call without plans locks no row. If it fails too, another session has locked the whole table.
    if (isHeld) await runner.rows(FIRE, NO_PLANS)
    // An open transaction has a run with the plan's live key. Whether that run exists is known when the transaction ends.
    if (isHeld && plans.length === 1) return [notFired("held")]
  }
  // Sent one by one, each plan sees the changes of the plan before. A single plan is sent again.
  if (plans.length === 1) return fireTogether(runner, plans, tries + 1)
  const fired: Fired[] = []
  for (const plan of plans) fired.push(...(await fireTogether(runner, [plan])))
  return fired
}

function sendPlans(runner: Runner, plans: readonly FirePlan[]): Promise<readonly Row[]> {
  const withEntry = plans.flatMap(({ entry }, index) =>
    entry === undefined ? [] : [{ entry, plan: index + 1 }],
  )
  if (withEntry.length === 0) return runner.rows(FIRE, valuesOf(plans))
  return runner.rows(FIRE_WITH_ENTRIES, [
    ...valuesOf(plans),
    withEntry.map(({ plan }) => plan),
    ...entryLists(withEntry.map(({ entry }) => entry)),
  ])
}

function valuesOf(plans: readonly FirePlan[]): readonly unknown[] {
  const runs = plans.flatMap((plan, index) => onceEach(plan.runs).map((run) => ({ run, plan: index + 1 })))
  return [
    ...listsOf(FIRE_PLAN, plans),
    ...newRunLists(runs.map(({ run }) => run)),
    runs.map(({ plan }) => plan),
  ]
}

/** A run that occurs twice in one plan is created once, as if it had been sent in two calls. */
function onceEach(runs: FirePlan["runs"]): FirePlan["runs"] {
  const ids = new Set<string>()
  return runs.filter(({ id }) => !ids.has(id) && ids.add(id))
}

function firedOf([, isApplied, isCurrent, ids, isSooner]: Row): Fired {
  if (isApplied === "f") return notFired(isCurrent === "t" ? "held" : "stale")
  const created = ids === null ? [] : (JSON.parse(ids!) as string[])
  return { answer: { outcome: "done", created }, isSooner: isSooner === "t" }
}

function notFired(outcome: "held" | "stale"): Fired {
  return { answer: { outcome }, isSooner: false }
}
