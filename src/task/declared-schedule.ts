import { checked, copied } from "../core/checked.ts"
import { defineSchedule } from "../core/definition.ts"
import { toPayload } from "../core/json.ts"
import { flag } from "../core/kinds.ts"
import type { ScheduleOptions } from "../core/options.ts"
import { checkId, scheduleSource } from "../core/policies.ts"
import { checkPayload, isLater, payloadOrThrow } from "./payload.ts"
import type { AnyTask } from "./task.ts"

/** The payload may be left out where the schema accepts nothing. */
export type PayloadOption<Input> = undefined extends Input
  ? { readonly payload?: Input }
  : { readonly payload: Input }

export type DeclaredOptions<Input> = Omit<ScheduleOptions, "in"> &
  PayloadOption<Input> & {
    /** Never stored: every process ticks it from memory, and the run's id lets one through. */
    readonly local?: boolean
  }

export interface DeclaredSchedule {
  readonly id: string
  readonly task: AnyTask
  readonly options: Omit<ScheduleOptions, "in">
  readonly payload: unknown
  readonly isLocal: boolean
}

const LOCAL = { local: flag }

export function declareSchedule(
  task: AnyTask,
  id: string,
  options: DeclaredOptions<unknown>,
): DeclaredSchedule {
  const source = scheduleSource(checkId(id))
  const { payload, local, ...rest } = copied(options, { source, option: "options" })
  const { local: isLocal = false } = checked({ local }, LOCAL, source)
  // A mistake shows here, where it was made.
  defineSchedule(rest, { id, task: task.name, payload, owner: null, release: 0, now: null })
  // So does one in the payload: most schemas answer at once. An asynchronous one waits for start.
  const checkedPayload = checkPayload(task, toPayload(payload, `Payload of schedule "${id}"`))
  if (isLater(checkedPayload)) Promise.resolve(checkedPayload).catch(() => undefined)
  else payloadOrThrow(task, checkedPayload)
  return { id, task, options: rest, payload, isLocal }
}
