import type { FirePlan } from "../../../core/plan.ts"
import type { FireAnswer, Hint } from "../../../store/store.ts"
import type { Runner } from "../database.ts"
import { isLockTimeout, isUniqueViolation } from "../faults.ts"
import { listsOf } from "../lists.ts"
import type { Row } from "../rows.ts"
import { NEW_RUN_PARAMETERS, newRunLists } from "../run-lists.ts"
import { FIRE_PLAN } from "../schedule-rows.ts"
import { named } from "../schema/engine-function.ts"
import { entryLists, insertEntries } from "./journal.ts"

/** The plans, their runs, and which plan each run is of. */
export const FIRE_PARAMETERS = FIRE_PLAN.length + NEW_RUN_PARAMETERS + 1
const PARAMETERS = Array.from({ length: FIRE_PARAMETERS }, (_, index) => `$${index + 1}`).join(", ")

export const FIRE = `
  select f.plan, f.is_going, f.is_standing, f.created, f.is_sooner
  from belfry.${named("fire")}(${PARAMETERS}) as f`

/** The same, with the entries of plans that happen: which plan each is of, and the entry. */
const FIRE_WITH_ENTRIES = `
  with fired as materialized (${FIRE}
  ),
  entries as (${insertEntries(
    FIRE_PARAMETERS + 2,
    `join fired on fired.is_going and fired.plan = ($${FIRE_PARAMETERS + 1}::bigint[])[e.place]`,
  )}
  )
  select fired.plan, fired.is_going, fired.is_standing, fired.created, fired.is_sooner
  from fired
  order by fired.plan`

export const NO_PLANS = Array.from({ length: FIRE_PARAMETERS }, () => null)

export interface Fired {
  readonly answers: readonly FireAnswer[]
  readonly hints: readonly Hint[]
}

export async function firePlans(runner: Runner, plans: readonly FirePlan[]): Promise<Fired> {
  if (plans.length === 0) return { answers: [], hints: [] }
  // A schedule twice in one call: the second plan was decided on what the first has changed.
  const seen = new Set<string>()
  const isSecond = plans.map(({ scheduleId }) => seen.has(scheduleId) || !seen.add(scheduleId))
  const firsts = plans.filter((_, index) => !isSecond[index])
  const { answers, hints } = await fireDistinct(runner, firsts)
  const given = [...answers]
  return { answers: isSecond.map((is) => (is ? { outcome: "stale" } : given.shift()!)), hints }
}

async function fireDistinct(runner: Runner, plans: readonly FirePlan[]): Promise<Fired> {
  const doomed = plans.map(hasTwins)
  const possible = plans.filter((_, index) => !doomed[index])
  const { answers, hints } = await fireTogether(runner, possible)
  const given = [...answers]
  return { answers: doomed.map((is) => (is ? { outcome: "held" } : given.shift()!)), hints }
}

/** Two new runs of one plan with the same live key: it can't happen whole. */
function hasTwins({ runs }: FirePlan): boolean {
  const keys = runs
    .filter(({ state, liveKey }) => state === "pending" && liveKey !== null)
    .map((run) => run.liveKey)
  return new Set(keys).size < keys.length
}

async function fireTogether(runner: Runner, plans: readonly FirePlan[]): Promise<Fired> {
  if (plans.length === 0) return { answers: [], hints: [] }
  try {
    return firedOf(await sendPlans(runner, plans), plans)
  } catch (error) {
    const { cause } = error as Error
    const isHeld = isLockTimeout(cause)
    if (!isUniqueViolation(cause) && !isHeld) throw error
    // A fire of nothing waits for no row. If that fails too, somebody has locked a whole table, and no plan can happen.
    if (isHeld) await runner.rows(FIRE, NO_PLANS)
    // A transaction that is still open has its live key: once that is committed or rolled back, it will be known whose it is.
    if (isHeld && plans.length === 1) return { answers: [{ outcome: "held" }], hints: [] }
  }
  // One by one, each sees what the one before has done; alone, it looks again until nobody comes between.
  if (plans.length === 1) return fireTogether(runner, plans)
  const fired: Fired[] = []
  for (const plan of plans) fired.push(await fireTogether(runner, [plan]))
  return { answers: fired.flatMap(({ answers }) => answers), hints: fired.flatMap(({ hints }) => hints) }
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

/** The same run twice in one plan is that run, as it is in two calls. */
function onceEach(runs: FirePlan["runs"]): FirePlan["runs"] {
  const ids = new Set<string>()
  return runs.filter(({ id }) => !ids.has(id) && ids.add(id))
}

function firedOf(rows: readonly Row[], plans: readonly FirePlan[]): Fired {
  const hints = new Set<Hint>()
  const answers = rows.map(([, isGoing, isStanding, ids, isSooner], index): FireAnswer => {
    if (isGoing === "f") return { outcome: isStanding === "t" ? "held" : "stale" }
    const created = ids === null ? [] : (JSON.parse(ids!) as string[])
    if (created.length > 0) hints.add("runs")
    if (isSooner === "t" || plans[index]!.entry !== undefined) hints.add("schedules")
    return { outcome: "done", created }
  })
  return { answers, hints: [...hints] }
}
