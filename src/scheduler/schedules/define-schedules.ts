import { checked, checkedValue } from "../../core/checked.ts"
import { defineSchedule } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import { checkId, scheduleSource } from "../../core/policies.ts"
import type { Schedule, ScheduleDefinition } from "../../core/schedule.ts"
import { createdEntry } from "../../core/schedule-journal.ts"
import type { Why } from "../../core/steer.ts"
import type { ScheduleView } from "../views.ts"
import {
  changedMeanwhile,
  editSchedule,
  findSchedule,
  TRIES,
  tooManyTries,
  tryEdit,
} from "./change-schedule.ts"
import { checkDependencies } from "./dependencies.ts"
import { checkPayload, checkStoredPayload, examinePayload } from "./payload-check.ts"
import {
  changedOptions,
  checkableChanges,
  GIVEN_CHANGES,
  SCHEDULE_CHANGES,
  type ScheduleChanges,
} from "./schedule-options.ts"
import { type ScheduleParts, type Viewer, viewerOf } from "./schedule-parts.ts"
import { type Beginning, scheduleToCreate } from "./schedule-to-create.ts"
import {
  type Because,
  CREATE_OPTIONS,
  type CreateOptions,
  idOf,
  PUT_BASE,
  sourceOf,
  UPDATE_BASE,
  whyOf,
} from "./steering-options.ts"

/** Saying what a schedule is: anew, or otherwise than before. */

export async function createSchedule(
  parts: ScheduleParts,
  id: string,
  options: CreateOptions<unknown>,
  because: Because,
): Promise<ScheduleView> {
  const asked = askedFor(id, options)
  const why = whyOf(because, "create")
  await parts.ready()
  const view = await viewerOf(parts.store)
  const created = await tryCreate(parts, asked, why, view)
  if (created !== null) return created
  throw new BelfryError("BELFRY_SCHEDULE_EXISTS", `There is a schedule "${id}" already.`, { details: { id } })
}

/** Whoever creates or deletes it meanwhile: it is replaced, or created anew. */
export async function putSchedule(
  parts: ScheduleParts,
  id: string,
  options: CreateOptions<unknown>,
  based: Because & { ifRevision?: number },
): Promise<ScheduleView> {
  const asked = askedFor(id, options)
  const { ifRevision, reason = null, by = null } = checked(based, PUT_BASE, sourceOf("put"))
  const why = { reason, by }
  await parts.ready()
  const { store } = parts
  const view = await viewerOf(store)
  for (let tries = 0; tries < TRIES; tries++) {
    const stored = await findSchedule(store, id)
    if (ifRevision !== undefined && stored?.revision !== ifRevision)
      throw changedMeanwhile(id, stored, ifRevision)
    if (stored === null) {
      const created = await tryCreate(parts, asked, why, view)
      if (created !== null) return created
    } else {
      const edited = await tryEdit(store, stored, { why, define: () => definitionOf(parts, asked, stored) })
      if (edited !== null) return view(edited)
    }
  }
  throw tooManyTries(id)
}

export async function updateSchedule(
  parts: ScheduleParts,
  id: string,
  changes: ScheduleChanges,
  based: Because & { ifRevision: number },
): Promise<ScheduleView> {
  const scheduleId = idOf(id, "update")
  const source = scheduleSource(scheduleId)
  checkedValue(changes, GIVEN_CHANGES, { source, option: "changes" })
  const given = checked(checkableChanges(changes, null), SCHEDULE_CHANGES, source)
  const { ifRevision, reason = null, by = null } = checked(based, UPDATE_BASE, sourceOf("update"))
  await parts.ready()
  const view = await viewerOf(parts.store)
  const edited = await editSchedule(parts.store, scheduleId, {
    ifRevision,
    why: { reason, by },
    define: async (stored) => {
      checked(checkableChanges(changes, stored), SCHEDULE_CHANGES, source)
      const payload = given.payload === undefined ? stored.payload : given.payload
      const task = given.task ?? stored.task
      // What was there before is only checked: a schedule whose function is gone can still be disabled.
      const isOther = given.payload !== undefined || task !== stored.task
      const check = isOther ? examineFor(parts) : checkStoredPayload
      await check(parts.tasks, task, payload)
      const options = changedOptions(stored, changes)
      return defined(parts, { id, options, task, payload }, stored)
    },
  })
  return view(edited)
}

/** What somebody wants a schedule to be, checked as far as that is possible by itself. */
interface Asked {
  readonly id: string
  readonly task: string
  readonly payload: unknown
  readonly options: Parameters<typeof defineSchedule>[0]
  readonly beginning: Beginning
}

export function askedFor(id: string, options: CreateOptions<unknown>): Asked {
  const given = checked(options, CREATE_OPTIONS, scheduleSource(checkId(id)))
  const { task: _task, payload, startImmediately: _now, paused: _paused, ...rest } = options
  return { id, task: given.task, payload, options: rest, beginning: given }
}

/** Null if the id is taken. */
async function tryCreate(
  parts: ScheduleParts,
  asked: Asked,
  why: Why,
  view: Viewer,
): Promise<ScheduleView | null> {
  const { store } = parts
  const definition = await definitionOf(parts, asked, null)
  const schedule = scheduleToCreate(asked.id, definition, asked.beginning, await store.now())
  const swap = await store.putSchedule(schedule, null, createdEntry(schedule, why))
  return swap.outcome === "done" ? view(schedule) : null
}

async function definitionOf(
  parts: ScheduleParts,
  asked: Asked,
  stored: Schedule | null,
): Promise<ScheduleDefinition> {
  await examineFor(parts)(parts.tasks, asked.task, asked.payload)
  return defined(parts, asked, stored)
}

async function defined(
  { store, declared }: ScheduleParts,
  { id, options, task, payload }: Omit<Asked, "beginning">,
  stored: Schedule | null,
): Promise<ScheduleDefinition> {
  const { owner = null, release = 0 } = stored ?? {}
  const about = { id, task, payload, owner, release, now: await store.now() }
  const definition = defineSchedule(options, about)
  await checkDependencies(store, id, definition, { stored, declared })
  return definition
}

function examineFor({ isWithin = false }: ScheduleParts): typeof examinePayload {
  return isWithin ? checkPayload : examinePayload
}
