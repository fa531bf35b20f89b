import { BelfryError } from "../../core/errors.ts"
import { checked, checkedValue } from "../../core/options/checked.ts"
import { defineSchedule } from "../../core/options/definition.ts"
import { checkId, scheduleSource } from "../../core/options/policies.ts"
import { createdEntry } from "../../core/planning/schedule-journal.ts"
import type { Why } from "../../core/planning/steer.ts"
import type { RetryPolicy } from "../../core/run/backoff.ts"
import type { Schedule, ScheduleDefinition } from "../../core/schedule/schedule.ts"
import { storedSchedule } from "../../core/schedule/stored-schedule.ts"
import { checkAttempts } from "../../task/one-attempt.ts"
import { dryStore } from "../dry-store.ts"
import type { ScheduleView } from "../views.ts"
import {
  editSchedule,
  findSchedule,
  revisionConflict,
  TRIES,
  tooManyTries,
  tryEdit,
} from "./change-schedule.ts"
import { checkDependencies } from "./dependencies.ts"
import { checkPayload, checkStoredPayload, examinePayload } from "./payload-check.ts"
import {
  changedOptions,
  checkableChanges,
  checkChanges,
  GIVEN_CHANGES,
  SCHEDULE_CHANGES,
  type ScheduleChanges,
} from "./schedule-options.ts"
import { type ScheduleParts, type Viewer, viewerOf } from "./schedule-parts.ts"
import { type InitialState, scheduleToCreate } from "./schedule-to-create.ts"
import {
  type ChangeReason,
  CREATE_OPTIONS,
  type CreateOptions,
  idOf,
  PUT_BASE,
  type PutOptions,
  sourceOf,
  UPDATE_BASE,
  type UpdateOptions,
  whyOf,
} from "./steering-options.ts"

/** Creates, replaces and updates schedules. What can be checked without the store is checked before it is opened. */

export async function createSchedule(
  parts: ScheduleParts,
  id: string,
  options: CreateOptions<unknown>,
  because: ChangeReason,
): Promise<ScheduleView> {
  const request = checkedRequest(id, options)
  const why = whyOf(because, "create")
  await checkBeforeOpening(parts, request)
  await parts.ready()
  const view = await viewerOf(parts.store)
  const created = await tryCreate(parts, request, why, view)
  if (created !== null) return created
  throw new BelfryError("BELFRY_SCHEDULE_EXISTS", `Schedule "${id}" already exists.`, { details: { id } })
}

/** Retries if another process creates, changes or deletes the schedule meanwhile. */
export async function putSchedule(
  parts: ScheduleParts,
  id: string,
  options: CreateOptions<unknown>,
  based: PutOptions,
): Promise<ScheduleView> {
  const request = checkedRequest(id, options)
  const { ifRevision, reason = null, by = null, dryRun = false } = checked(based, PUT_BASE, sourceOf("put"))
  const why = { reason, by }
  await checkBeforeOpening(parts, request)
  await parts.ready()
  const target = targetOf(parts, dryRun)
  const { store } = target
  const view = await viewerOf(store)
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await findSchedule(store, id)
    if (ifRevision !== undefined && stored?.revision !== ifRevision)
      throw revisionConflict(id, stored, ifRevision)
    if (stored === null) {
      const created = await tryCreate(target, request, why, view)
      if (created !== null) return created
    } else {
      const edited = await tryEdit(store, stored, {
        why,
        define: () => buildDefinition(target, request, stored),
      })
      if (edited !== null) return view(edited)
    }
  }
  throw tooManyTries(id)
}

export async function updateSchedule(
  parts: ScheduleParts,
  id: string,
  changes: ScheduleChanges,
  based: UpdateOptions,
): Promise<ScheduleView> {
  const scheduleId = idOf(id, "update")
  const source = scheduleSource(scheduleId)
  checkedValue(changes, GIVEN_CHANGES, { source, option: "changes" })
  const given = checked(checkableChanges(changes, null), SCHEDULE_CHANGES, source)
  const {
    ifRevision,
    reason = null,
    by = null,
    dryRun = false,
  } = checked(based, UPDATE_BASE, sourceOf("update"))
  await parts.ready()
  const target = targetOf(parts, dryRun)
  const view = await viewerOf(target.store)
  const edited = await editSchedule(target.store, scheduleId, {
    ifRevision,
    why: { reason, by },
    define: async (stored) => {
      checkChanges(changes, stored, scheduleId)
      const payload = given.payload === undefined ? stored.payload : given.payload
      const task = given.task ?? stored.task
      // An unchanged payload is checked less strictly, so that a schedule whose SQL function is gone can still be disabled.
      const isNewPayload = given.payload !== undefined || task !== stored.task
      const check = isNewPayload ? payloadCheckFor(parts) : checkStoredPayload
      await check(parts.tasks, task, payload)
      const options = changedOptions(stored, changes)
      return buildDefinition(target, { id, options, task, payload }, stored)
    },
  })
  return view(edited)
}

/** A dry run is the real operation on a store that saves nothing. */
function targetOf(parts: ScheduleParts, isDryRun: boolean): ScheduleParts {
  return isDryRun ? { ...parts, store: dryStore(parts.store) } : parts
}

/** The requested schedule, checked as far as possible without the store. */
interface ScheduleRequest {
  readonly id: string
  readonly task: string
  readonly payload: unknown
  readonly options: Parameters<typeof defineSchedule>[0]
  readonly initial: InitialState
}

export function checkedRequest(id: string, options: CreateOptions<unknown>): ScheduleRequest {
  const given = checked(options, CREATE_OPTIONS, scheduleSource(checkId(id)))
  const { task: _task, payload, startImmediately: _now, paused: _paused, ...rest } = options
  return { id, task: given.task, payload, options: rest, initial: given }
}

/** Null: the id is already in use. */
async function tryCreate(
  parts: ScheduleParts,
  request: ScheduleRequest,
  why: Why,
  view: Viewer,
): Promise<ScheduleView | null> {
  const { store } = parts
  const definition = await buildDefinition(parts, request, null)
  const schedule = scheduleToCreate(request.id, definition, request.initial, await store.now())
  const swap = await store.putSchedule(schedule, null, createdEntry(schedule, why))
  return swap.outcome === "done" ? view(storedSchedule(schedule, swap.version)) : null
}

async function checkBeforeOpening(
  parts: ScheduleParts,
  { id, task, payload, options }: ScheduleRequest,
): Promise<void> {
  defineSchedule(options, { id, task, payload, owner: null, release: 0, now: parts.clock.now() })
  await payloadCheckFor(parts)(parts.tasks, task, payload)
}

async function buildDefinition(
  { store, declared, tasks }: ScheduleParts,
  { id, options, task, payload }: Omit<ScheduleRequest, "initial">,
  stored: Schedule | null,
): Promise<ScheduleDefinition> {
  const { owner = null, release = 0 } = stored ?? {}
  const about = { id, task, payload, owner, release, now: await store.now() }
  const definition = defineSchedule(options, about)
  // Not if the task and the policy stay the same, so that a stored schedule can still be changed in other ways.
  const isSame = stored !== null && stored.task === task && isEqual(stored.retry, definition.retry)
  if (!isSame)
    checkAttempts(tasks.get(task), definition.retry, { source: scheduleSource(id), option: "retry" })
  await checkDependencies(store, id, definition, { stored, declared })
  return definition
}

function isEqual(a: RetryPolicy | null, b: RetryPolicy | null): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

function payloadCheckFor({ isWithin = false }: ScheduleParts): typeof examinePayload {
  return isWithin ? checkPayload : examinePayload
}
