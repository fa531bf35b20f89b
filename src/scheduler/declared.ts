import { BelfryError } from "../core/errors.ts"
import { defineSchedule, newSchedule } from "../core/options/definition.ts"
import { checkId } from "../core/options/policies.ts"
import { deletionOf } from "../core/planning/plan.ts"
import { createdEntry, deletedEntry } from "../core/planning/schedule-journal.ts"
import type { Why } from "../core/planning/steer.ts"
import { type Declared, fingerprint, type ReconcileDiff, reconcile } from "../core/schedule/reconcile.ts"
import type { Schedule } from "../core/schedule/schedule.ts"
import { newScheduleOf } from "../core/schedule/stored-schedule.ts"
import { toPayload } from "../core/values/json.ts"
import type { Logger } from "../runtime/logger.ts"
import type { FireAnswer, Store, Swap } from "../store/store.ts"
import { accepted } from "../store/unstorable.ts"
import type { DeclaredSchedule } from "../task/declared-schedule.ts"
import { validatePayload } from "../task/payload.ts"
import { findSchedule, TRIES, tooManyTries, tryEdit } from "./schedules/change-schedule.ts"
import { checkDeclaredDependencies, cyclesWithStored } from "./schedules/dependencies.ts"
import { checkTakesPayload } from "./schedules/payload-check.ts"
import { schedulesBy, schedulesOf } from "./schedules/read-schedules.ts"

/** The changes that were made, or that a dry run would make, to the stored schedules of an owner. */
export interface ReconcileReport {
  readonly created: readonly string[]
  readonly updated: readonly { readonly id: string; readonly fields: readonly string[] }[]
  readonly unchanged: readonly string[]
  readonly pruned: readonly string[]
  readonly refused: readonly { readonly id: string; readonly why: string }[]
}

export interface DeclaredSet {
  readonly owner: string
  readonly release: number
  /** Delete the owner's stored schedules that are no longer declared. */
  readonly prune: boolean
  readonly declared: readonly Declared[]
}

/** Throws on mistakes in schedules declared in code, before anything starts. */
export function defineDeclared(
  schedules: readonly DeclaredSchedule[],
  about: { owner: string; release: number },
): readonly Declared[] {
  const seen = new Set<string>()
  const declared = schedules.map(({ id, task, options, payload }) => {
    checkId(id)
    if (seen.has(id))
      throw new BelfryError("BELFRY_SCHEDULE_INVALID", `Schedule id "${id}" is declared twice.`, {
        details: { id },
      })
    seen.add(id)
    checkTakesPayload(task, payload)
    const { owner, release } = about
    return {
      id,
      definition: defineSchedule(options, { id, task: task.name, payload, owner, release, now: null }),
    }
  })
  checkDeclaredDependencies(declared)
  return declared
}

/** For asynchronous schemas. Synchronous schemas are checked where the schedule is declared. */
export async function checkDeclaredPayloads(schedules: readonly DeclaredSchedule[]): Promise<void> {
  for (const { id, task, payload } of schedules)
    await validatePayload(task, toPayload(payload, `Payload of schedule "${id}"`))
}

export async function reconcileDeclared(
  store: Store,
  set: DeclaredSet,
  options: { dryRun: boolean; logger: Logger },
): Promise<ReconcileReport> {
  const stored = await storedFor(store, set)
  const diff = withoutCycles(
    reconcile(stored, set.declared, set),
    await cyclesWithStored(store, set.declared),
  )
  if (options.dryRun) return reportOf(diff)
  const report = reportOf(await apply(store, diff, set))
  logReport(options.logger, set, report)
  return report
}

/** A schedule that depends on itself through stored schedules is not stored: no schedule of that cycle would ever fire. */
function withoutCycles(diff: ReconcileDiff, cycles: ReadonlyMap<string, string>): ReconcileDiff {
  const isAcyclic = ({ id }: Declared) => !cycles.has(id)
  const cyclic = [...diff.created, ...diff.updated].filter((entry) => !isAcyclic(entry))
  return {
    ...diff,
    created: diff.created.filter(isAcyclic),
    updated: diff.updated.filter(isAcyclic),
    refused: [...diff.refused, ...cyclic.map(({ id }) => ({ id, why: `dependsOn ${cycles.get(id)}` }))],
  }
}

/** The owner's schedules, and schedules of other owners that have one of the declared ids. */
async function storedFor(store: Store, { owner, declared }: DeclaredSet): Promise<readonly Schedule[]> {
  const found = new Map(
    await schedulesOf(
      store,
      declared.map(({ id }) => id),
    ),
  )
  for await (const schedule of schedulesBy(store, { owner })) found.set(schedule.id, schedule)
  return [...found.values()]
}

/**
 * Each step is guarded by the version. If another process was faster, the step is decided again on the stored schedule. So the
 * newer of two releases that reconcile at the same time wins, whichever writes first. Returns the steps taken.
 */
async function apply(store: Store, diff: ReconcileDiff, set: DeclaredSet): Promise<ReconcileDiff> {
  const steps: ReconcileDiff[] = []
  for (const entry of diff.created) steps.push(await declare(store, entry, set, null))
  for (const entry of [...diff.updated, ...diff.releaseRaised])
    steps.push(await declare(store, entry, set, entry.stored))
  const pruned: Schedule[] = []
  for (const schedule of diff.pruned) if (await prune(store, schedule, set)) pruned.push(schedule)
  return {
    created: steps.flatMap(({ created }) => created),
    updated: steps.flatMap(({ updated }) => updated),
    releaseRaised: steps.flatMap(({ releaseRaised }) => releaseRaised),
    unchanged: [...diff.unchanged, ...steps.flatMap(({ unchanged }) => unchanged)],
    pruned,
    refused: [...diff.refused, ...steps.flatMap(({ refused }) => refused)],
  }
}

/** Reconciles one declared schedule. Returns the step taken. */
async function declare(
  store: Store,
  { id, definition }: Declared,
  set: DeclaredSet,
  found: Schedule | null,
): Promise<ReconcileDiff> {
  let stored = found
  for (let tries = 0; tries < TRIES; tries++) {
    const step = reconcile(stored === null ? [] : [stored], [{ id, definition }], { ...set, prune: false })
    if (await takeStep(store, step, whyOf(set))) return step
    stored = await findSchedule(store, id)
  }
  throw tooManyTries(id, "declared")
}

/** Takes a step of one schedule. False if the schedule has changed since it was read. */
async function takeStep(
  store: Store,
  { created, updated, releaseRaised }: ReconcileDiff,
  why: Why,
): Promise<boolean> {
  const [toCreate, toUpdate, toNote] = [created[0], updated[0], releaseRaised[0]]
  if (toCreate !== undefined) {
    const schedule = newSchedule(toCreate.id, toCreate.definition, await store.now())
    const declared = { ...schedule, declaredAs: fingerprint(toCreate.definition) }
    return isDone(await store.putSchedule(declared, null, createdEntry(declared, why)))
  }
  if (toUpdate !== undefined) {
    const { stored, definition } = toUpdate
    const edit = { declaredAs: fingerprint(definition), define: () => definition, why }
    return (await tryEdit(store, stored, edit)) !== null
  }
  if (toNote === undefined) return true
  const { stored, definition } = toNote
  const noted = { ...newScheduleOf(stored), release: definition.release }
  return isDone(await store.putSchedule(noted, stored.version))
}

/** True if this process deleted the schedule. */
async function prune(store: Store, found: Schedule, set: DeclaredSet): Promise<boolean> {
  const { owner, release } = set
  let stored: Schedule | null = found
  for (let tries = 0; tries < TRIES; tries++) {
    if (stored === null || stored.owner !== owner || stored.release > release) return false
    // A fire changes only the version. A new revision means that another process of this release declared or edited the
    // schedule.
    if (stored.revision !== found.revision && stored.release === release) return false
    const [answer] = await store.fire([deletionOf(stored, deletedEntry(stored, whyOf(set)))])
    if (isDone(accepted(answer!))) return true
    stored = await findSchedule(store, stored.id)
  }
  throw tooManyTries(found.id, "pruned")
}

/** The author and the reason of the change in the journal. */
function whyOf({ owner, release }: DeclaredSet): Why {
  return { by: `code of "${owner}"`, reason: `Release ${release}` }
}

function isDone({ outcome }: Swap | FireAnswer): boolean {
  return outcome === "done"
}

function reportOf(diff: ReconcileDiff): ReconcileReport {
  return {
    created: diff.created.map(({ id }) => id),
    updated: diff.updated.map(({ id, fields }) => ({ id, fields })),
    unchanged: [...diff.unchanged, ...diff.releaseRaised.map(({ id }) => id)],
    pruned: diff.pruned.map(({ id }) => id),
    refused: diff.refused.map(({ id, why }) => ({ id, why })),
  }
}

function logReport(logger: Logger, { owner }: DeclaredSet, report: ReconcileReport): void {
  const { created, updated, pruned, refused, unchanged } = report
  const facts = {
    component: "reconcile",
    owner,
    created,
    pruned,
    updated: updated.map(({ id }) => id),
    unchanged: unchanged.length,
  }
  if (created.length + updated.length + pruned.length > 0) logger.info(facts, "Declared schedules reconciled")
  for (const { id, why } of refused)
    logger.warn({ component: "reconcile", owner, scheduleId: id, why }, "Declared schedule left alone")
}
