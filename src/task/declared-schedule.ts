import { checked, copied } from "../core/options/checked.ts"
import { defineSchedule, SCHEDULE_OPTIONS } from "../core/options/definition.ts"
import { flag, payload as payloadOption } from "../core/options/option-types.ts"
import type { ScheduleOptions } from "../core/options/options.ts"
import { checkId, scheduleSource } from "../core/options/policies.ts"
import { toPayload } from "../core/values/json.ts"
import { checkAttempts } from "./one-attempt.ts"
import { checkPayload, isAsync, payloadOrThrow } from "./payload.ts"
import type { AnyTask } from "./task.ts"

/** The payload may be left out if the schema accepts `undefined`. */
export type PayloadOption<Input> = undefined extends Input
  ? { readonly payload?: Input }
  : { readonly payload: Input }

/** The options of `task.schedule`. */
export type DeclaredOptions<Input> = Omit<ScheduleOptions, "in"> &
  PayloadOption<Input> & {
    /**
     * The schedule isn't stored: every process fires it from memory, and the store keeps one run per
     * occurrence by its id.
     */
    readonly local?: boolean
  }

/** A schedule that is declared in code. */
export interface DeclaredSchedule {
  readonly id: string
  readonly task: AnyTask
  readonly options: Omit<ScheduleOptions, "in">
  readonly payload: unknown
  readonly isLocal: boolean
}

const DECLARED_OPTIONS = { ...SCHEDULE_OPTIONS, payload: payloadOption, local: flag }

export function declareSchedule(
  task: AnyTask,
  id: string,
  options: DeclaredOptions<unknown>,
): DeclaredSchedule {
  const source = scheduleSource(checkId(id))
  const { payload, local: _local, ...rest } = copied(options, { source, option: "options" })
  const { local: isLocal = false } = checked(options, DECLARED_OPTIONS, source)
  // Invalid options throw here, where they were written.
  const context = { id, task: task.name, payload, owner: null, release: 0, now: null }
  checkAttempts(task, defineSchedule(rest, context).retry, { source, option: "retry" })
  // So does an invalid payload, unless its schema is asynchronous: then the scheduler's start checks it.
  const checkedPayload = checkPayload(task, toPayload(payload, `Payload of schedule "${id}"`))
  if (isAsync(checkedPayload)) Promise.resolve(checkedPayload).catch(() => undefined)
  else payloadOrThrow(task, checkedPayload)
  return { id, task, options: rest, payload, isLocal }
}
