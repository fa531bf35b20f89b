import { BelfryError } from "../core/errors.ts"
import { type FireFacts, type FirePlan, planSettle } from "../core/fire.ts"
import type { Instant } from "../core/instant.ts"
import { changedFields, definitionOf, fingerprint } from "../core/reconcile.ts"
import { UNFINISHED } from "../core/run.ts"
import { concurrencyKeyOf, type Schedule, type ScheduleDefinition } from "../core/schedule.ts"
import { planAnew } from "../core/steer.ts"
import type { Store } from "../store/store.ts"

/** Changing stored schedules: read, decide, swap; and again if somebody was faster. */

/** Each try loses only to somebody else's success, so this many losses in a row mean something is wrong. */
const TRIES = 20

export async function findSchedule(store: Store, id: string): Promise<Schedule | null> {
  const [schedule] = await store.findSchedules({ ids: [id] }, { afterId: null, limit: 1 })
  return schedule ?? null
}

export async function requireSchedule(store: Store, id: string): Promise<Schedule> {
  const schedule = await findSchedule(store, id)
  if (schedule !== null) return schedule
  throw new BelfryError("BELFRY_SCHEDULE_NOT_FOUND", `There is no schedule "${id}".`, { details: { id } })
}

/** Applies an operator's step; null from `decide` means there is nothing to do. Returns the schedule as it is then. */
export async function steerSchedule(
  store: Store,
  id: string,
  decide: (schedule: Schedule, now: Instant) => FirePlan | null,
): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const schedule = await requireSchedule(store, id)
    const plan = decide(schedule, await store.now())
    if (plan === null) return schedule
    const [answer] = await store.fire([plan])
    if (answer!.outcome === "done") return { ...schedule, ...plan.progress }
  }
  throw tooManyTries(id)
}

export interface Edit {
  /** The revision the edit is based on; null for "whatever is there". */
  readonly ifRevision: number | null
  /** What code declared, if it is code that edits. */
  readonly declaredAs?: string
  define(stored: Schedule): Promise<ScheduleDefinition> | ScheduleDefinition
}

/** Replaces the definition. The next occurrence moves only if the definition says when differently. */
export async function editSchedule(store: Store, id: string, edit: Edit): Promise<Schedule> {
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await requireSchedule(store, id)
    if (edit.ifRevision !== null && stored.revision !== edit.ifRevision)
      throw changedMeanwhile(stored, edit.ifRevision)
    const now = await store.now()
    if (await settle(store, stored, now)) continue
    const edited = withDefinition(
      stored,
      await edit.define(stored),
      now,
      edit.declaredAs ?? stored.declaredAs,
    )
    const swap = await store.putSchedule(edited, stored.version)
    if (swap.outcome === "done") return { ...edited, version: swap.version }
  }
  throw tooManyTries(id)
}

/** True if something was owed and has been fired: the schedule has moved, read it again. */
async function settle(store: Store, schedule: Schedule, now: Instant): Promise<boolean> {
  const plan = planSettle(schedule, await factsOf(store, schedule), now)
  if (plan === null) return false
  if (plan.cancels.length > 0) await store.transition(plan.cancels)
  await store.fire([plan])
  return true
}

/** What `dueSchedules` would say of it. */
async function factsOf(store: Store, schedule: Schedule): Promise<FireFacts> {
  const page = { orderBy: "createdAt", before: null } as const
  const unfinished = await store.findRuns(
    { concurrencyKey: concurrencyKeyOf(schedule.id), states: UNFINISHED },
    { ...page, limit: 100 },
  )
  const successes = await Promise.all(
    schedule.dependsOn.map(async ({ scheduleId }) => {
      const [run] = await store.findRuns(
        { scheduleId, states: ["succeeded"] },
        { ...page, orderBy: "completedAt", limit: 1 },
      )
      return [scheduleId, run?.completedAt ?? null] as const
    }),
  )
  return { unfinished: unfinished.toReversed(), lastSuccessAt: Object.fromEntries(successes) }
}

/** The parts of a definition that say when. */
const TIMING: readonly (keyof ScheduleDefinition)[] = [
  "triggers",
  "timezone",
  "dst",
  "jitterMs",
  "spacingMs",
  "startsAt",
  "endsAt",
  "maxRuns",
  "enabled",
]

function withDefinition(
  stored: Schedule,
  definition: ScheduleDefinition,
  now: Instant,
  declaredAs: string | null,
): Schedule {
  const fields = changedFields(definitionOf(stored), definition)
  const edited: Schedule = {
    ...stored,
    ...definition,
    declaredAs,
    revision: stored.revision + (fields.length > 0 ? 1 : 0),
    updatedAt: fields.length > 0 ? now : stored.updatedAt,
  }
  return fields.some((field) => TIMING.includes(field as keyof ScheduleDefinition))
    ? planAnew(edited, now)
    : edited
}

export function declaredAs(definition: ScheduleDefinition): string {
  return fingerprint(definition)
}

function changedMeanwhile(stored: Schedule, ifRevision: number): BelfryError {
  return new BelfryError(
    "BELFRY_SCHEDULE_CHANGED",
    `Schedule "${stored.id}" is at revision ${stored.revision}; the change was based on ${ifRevision}.`,
    { details: { id: stored.id, revision: stored.revision, ifRevision } },
  )
}

function tooManyTries(id: string): BelfryError {
  return new BelfryError(
    "BELFRY_SCHEDULE_CHANGED",
    `Schedule "${id}" changed ${TRIES} times while it was being changed.`,
  )
}
