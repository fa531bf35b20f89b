import { isEdited } from "../../core/edits.ts"
import { BelfryError } from "../../core/errors.ts"
import { planFire, planSettle } from "../../core/fire.ts"
import type { Instant } from "../../core/instant.ts"
import { cancelsOf, deletionOf, type FireFacts, type Plan } from "../../core/plan.ts"
import type { OwedOptions } from "../../core/plan-owed.ts"
import { definitionOf } from "../../core/reconcile.ts"
import { isTimedOtherwise, redefine } from "../../core/redefine.ts"
import type { Schedule, ScheduleDefinition } from "../../core/schedule.ts"
import { deletedEntry, steeredEntry, updatedEntry } from "../../core/schedule-journal.ts"
import type { Why } from "../../core/steer.ts"
import { cancelAll } from "../../engine/cancelling.ts"
import { plannedBy, readFacts } from "../../engine/facts.ts"
import { accepted, isRefused } from "../../store/refused.ts"
import type { FireAnswer, Store } from "../../store/store.ts"

/** Changing stored schedules: read, decide, swap; and again if somebody was faster. */

/** Each try loses only to somebody else's success, so this many losses in a row mean something is wrong. */
export const TRIES = 20

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

/** Somebody's step. */
export interface Step {
  /** What the journal calls it; null: it isn't kept there. */
  readonly action: string | null
  readonly why: Why
  /** Null means there is nothing to do. */
  decide(schedule: Schedule, facts: FireFacts, now: Instant): Plan | null
}

/**
 * Applies an operator's step and returns the schedule as it is then. A schedule that finishes in the step, and asked to be removed
 * then, is no longer there: that is the end of a `resume`; any other step comes too late for it.
 */
export async function steerSchedule(
  store: Store,
  id: string,
  step: Step,
  { mayFinish = false }: { mayFinish?: boolean } = {},
): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const steered = await trySteer(store, await requireSchedule(store, id), step)
    if (steered.outcome === "done" || (steered.outcome === "removed" && mayFinish)) return steered.schedule
  }
  throw tooManyTries(id)
}

type Steered =
  /** The schedule as it is then, or was at its end. */
  | { readonly outcome: "done" | "removed"; readonly schedule: Schedule }
  /** It has moved, or a run of the step needs a live key that another run holds. */
  | { readonly outcome: "stale" | "held" }

/** One try at a step of the schedule as it was read. */
export async function trySteer(store: Store, schedule: Schedule, step: Step): Promise<Steered> {
  const facts = await readFacts(store, schedule)
  const now = await store.now()
  if (isEdited(schedule)) {
    // Somebody wrote to it without our checks: that comes first.
    accepted(
      await offer(store, await plannedBy(store, schedule, facts, (known) => planFire(schedule, known, now))),
    )
    return { outcome: "stale" }
  }
  const plan = await plannedBy(store, schedule, facts, (known) => step.decide(schedule, known, now))
  if (plan === null) return { outcome: "done", schedule }
  const { action, why } = step
  const entry = action === null ? {} : { entry: steeredEntry(action, schedule, plan, why) }
  const { outcome } = accepted(await offer(store, { ...plan, ...entry }))
  if (outcome !== "done") return { outcome }
  if (plan.progress !== null) return { outcome, schedule: { ...schedule, ...plan.progress } }
  return { outcome: "removed", schedule: { ...schedule, paused: null, nextRunAt: null, finishedAt: now } }
}

async function offer(store: Store, plan: Plan): Promise<FireAnswer> {
  await cancelAll(store, cancelsOf(plan))
  const [answer] = await store.fire([plan])
  return answer!
}

export interface Edit {
  readonly why: Why
  /** What code declared, if it is code that edits. */
  readonly declaredAs?: string
  define(stored: Schedule): Promise<ScheduleDefinition> | ScheduleDefinition
}

/** Replaces the definition, if the schedule is at that revision. */
export async function editSchedule(
  store: Store,
  id: string,
  edit: Edit & { readonly ifRevision: number },
): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await requireSchedule(store, id)
    if (stored.revision !== edit.ifRevision) throw changedMeanwhile(id, stored, edit.ifRevision)
    const edited = await tryEdit(store, stored, edit)
    if (edited !== null) return edited
  }
  throw tooManyTries(id)
}

/**
 * One try at an edit of the schedule as it was read; null if it has moved, also because what it owed was fired first. The next
 * occurrence moves only if the definition says when differently.
 */
export async function tryEdit(store: Store, stored: Schedule, edit: Edit): Promise<Schedule | null> {
  const now = await store.now()
  const definition = await edit.define(stored)
  // By the same timetable, what has no room yet stays owed.
  const canWait = !isTimedOtherwise(definitionOf(stored), definition)
  if (await settle(store, stored, now, { canWait })) return null
  const edited = redefine(stored, definition, now, edit.declaredAs ?? stored.declaredAs)
  const swap = await store.putSchedule(edited, stored.version, updatedEntry(stored, edited, edit.why))
  return swap.outcome === "done" ? { ...edited, version: swap.version } : null
}

/** True if something was owed and has been fired: the schedule has moved, read it again. */
async function settle(
  store: Store,
  schedule: Schedule,
  now: Instant,
  options: OwedOptions,
): Promise<boolean> {
  const facts = await readFacts(store, schedule)
  const plan = await plannedBy(store, schedule, facts, (known) => planSettle(schedule, known, now, options))
  if (plan === null) return false
  // What can't be kept must not stand in the way of the edit that may mend it.
  return !isRefused(await offer(store, plan))
}

/** Whatever fires meanwhile; false if there is none. */
export async function deleteSchedule(store: Store, id: string, why: Why): Promise<boolean> {
  for (let tries = 0; tries < TRIES; tries++) {
    const schedule = await findSchedule(store, id)
    if (schedule === null) return false
    const [answer] = await store.fire([deletionOf(schedule, deletedEntry(schedule, why))])
    if (answer!.outcome === "done") return true
  }
  throw tooManyTries(id, "deleted")
}

/** Null: it isn't there, or not any more. */
export function changedMeanwhile(id: string, stored: Schedule | null, ifRevision: number): BelfryError {
  const revision = stored?.revision ?? null
  const is = revision === null ? "isn't there" : `is at revision ${revision}`
  return new BelfryError(
    "BELFRY_SCHEDULE_CHANGED",
    `Schedule "${id}" ${is}; the change was based on revision ${ifRevision}.`,
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
