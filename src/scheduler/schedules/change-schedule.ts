import { BelfryError } from "../../core/errors.ts"
import { isEdited } from "../../core/planning/edits.ts"
import { planFire, planSettle } from "../../core/planning/fire.ts"
import { deletionOf, type FireFacts, type Plan } from "../../core/planning/plan.ts"
import type { OwedOptions } from "../../core/planning/plan-owed.ts"
import { hasOtherTiming, redefine } from "../../core/planning/redefine.ts"
import { deletedEntry, steeredEntry, updatedEntry } from "../../core/planning/schedule-journal.ts"
import type { Why } from "../../core/planning/steer.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type { Schedule, ScheduleDefinition } from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import type { Instant } from "../../core/time/instant.ts"
import { plannedBy, readFacts } from "../../engine/facts.ts"
import { offerPlans } from "../../engine/offering.ts"
import type { FireAnswer, Store } from "../../store/store.ts"
import { accepted, isUnstorable } from "../../store/unstorable.ts"

/** Changes stored schedules: read, decide, compare-and-swap. Starts over if another process was faster. */

/** A try fails only if another caller succeeded, and many may change a schedule at once. */
export const TRIES = 200

export async function findSchedule(store: Store, id: string): Promise<Schedule | null> {
  const [schedule] = await store.findSchedules({ ids: [id] }, { orderBy: "id", after: null, limit: 1 })
  return schedule ?? null
}

export async function requireSchedule(store: Store, id: string): Promise<Schedule> {
  const schedule = await findSchedule(store, id)
  if (schedule !== null) return schedule
  throw noSchedule(id)
}

export function noSchedule(id: string): BelfryError {
  return new BelfryError("BELFRY_SCHEDULE_NOT_FOUND", `There is no schedule "${id}".`, { details: { id } })
}

/** An operator's change of a schedule. */
export interface ScheduleOperation {
  /** The name of the action in the journal. Null: not recorded there. */
  readonly action: string | null
  readonly why: Why
  /** Null: nothing to do. */
  decide(schedule: Schedule, facts: FireFacts, now: Instant): Plan | null
}

/**
 * Makes an operator's change and returns the changed schedule. If the schedule finishes by it and has the option to be
 * removed when finished, it no longer exists. With `mayFinish` (for `resume`) that is a success; other operations then fail with
 * "no schedule".
 */
export async function steerSchedule(
  store: Store,
  id: string,
  operation: ScheduleOperation,
  { mayFinish = false }: { mayFinish?: boolean } = {},
): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const steered = await trySteer(store, await requireSchedule(store, id), operation)
    if (steered.outcome === "done" || (steered.outcome === "removed" && mayFinish)) return steered.schedule
  }
  throw tooManyTries(id)
}

type Steered =
  /** The changed schedule, or its last state if it was removed. */
  | { readonly outcome: "done" | "removed"; readonly schedule: Schedule }
  /** The schedule has changed, or a run of the operation needs a live key that another run holds. */
  | { readonly outcome: "stale" | "held" }

/** Tries the operation once, on the schedule as it was read. */
export async function trySteer(
  store: Store,
  schedule: Schedule,
  operation: ScheduleOperation,
): Promise<Steered> {
  const facts = await readFacts(store, schedule)
  const now = await store.now()
  if (isEdited(schedule)) {
    // The row was written by SQL directly, without our checks. That edit is planned first.
    accepted(
      await fireOne(
        store,
        await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now)),
      ),
    )
    return { outcome: "stale" }
  }
  const plan = await plannedBy(store, schedule, facts, (known) => operation.decide(schedule, known, now))
  if (plan === null) return { outcome: "done", schedule }
  const { action, why } = operation
  const entry = action === null ? {} : { entry: steeredEntry(action, schedule, plan, why) }
  const { outcome } = accepted(await fireOne(store, { ...plan, ...entry }))
  if (outcome !== "done") return { outcome }
  if (plan.progress !== null) return { outcome, schedule: { ...schedule, ...plan.progress } }
  return { outcome: "removed", schedule: { ...schedule, paused: null, nextRunAt: null, finishedAt: now } }
}

async function fireOne(store: Store, plan: Plan): Promise<FireAnswer> {
  const [answer] = await offerPlans(store, [plan])
  return answer!
}

export interface Redefinition {
  readonly why: Why
  /** The fingerprint of the declared definition, if the edit comes from code. */
  readonly declaredAs?: string
  define(stored: Schedule): Promise<ScheduleDefinition> | ScheduleDefinition
}

/** Replaces the definition if the schedule is at revision `ifRevision`. */
export async function editSchedule(
  store: Store,
  id: string,
  edit: Redefinition & { readonly ifRevision: number },
): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await requireSchedule(store, id)
    if (stored.revision !== edit.ifRevision) throw revisionConflict(id, stored, edit.ifRevision)
    const edited = await tryEdit(store, stored, edit)
    if (edited !== null) return edited
  }
  throw tooManyTries(id)
}

/**
 * Tries the edit once, on the schedule as it was read. Null: the schedule has changed, possibly because owed occurrences were
 * fired first. The next occurrence moves only if the new definition changes the timetable.
 */
export async function tryEdit(store: Store, stored: Schedule, edit: Redefinition): Promise<Schedule | null> {
  const now = await store.now()
  const definition = await edit.define(stored)
  // If the timetable stays the same, occurrences that wait for a free place stay owed.
  const canWait = !hasOtherTiming(definitionOf(stored), definition)
  if (await settle(store, stored, now, { canWait })) return null
  const edited = redefine(stored, definition, now, edit.declaredAs ?? stored.declaredAs)
  const swap = await store.putSchedule(edited, stored.version, updatedEntry(stored, edited, edit.why))
  return swap.outcome === "done" ? storedSchedule(edited, swap.version, stored) : null
}

/** True if owed occurrences were fired. The caller must then read the schedule again. */
async function settle(
  store: Store,
  schedule: Schedule,
  now: Instant,
  options: OwedOptions,
): Promise<boolean> {
  const facts = await readFacts(store, schedule)
  const plan = await plannedBy(store, schedule, facts, (known) => planSettle(schedule, known, now, options))
  if (plan === null) return false
  // A plan that the store refuses must not block the edit, because the edit may correct the cause.
  return !isUnstorable(await fireOne(store, plan))
}

/** Retries if the schedule fires meanwhile. False: the schedule doesn't exist. */
export async function deleteSchedule(store: Store, id: string, why: Why): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const schedule = await findSchedule(store, id)
    if (schedule === null) return false
    const [answer] = await store.fire([deletionOf(schedule, deletedEntry(schedule, why))])
    if (accepted(answer!).outcome === "done") return true
  }
  throw tooManyTries(id, "deleted")
}

/** `stored` is null if the schedule doesn't exist. */
export function revisionConflict(id: string, stored: Schedule | null, ifRevision: number): BelfryError {
  const revision = stored?.revision ?? null
  const actual = revision === null ? "doesn't exist" : `is at revision ${revision}`
  return new BelfryError(
    "BELFRY_SCHEDULE_CHANGED",
    `Schedule "${id}" ${actual}; the change was based on revision ${ifRevision}.`,
    { details: { id, revision, ifRevision } },
  )
}

export function tooManyTries(id: string, verb = "changed"): BelfryError {
  return new BelfryError(
    "BELFRY_SCHEDULE_CHANGED",
    `Schedule "${id}" changed ${TRIES} times while it was being ${verb}.`,
    { details: { id } },
  )
}
