import { type Checked, checkedValue, type OptionSource, type OptionType } from "../../core/options/checked.ts"
import { LOOKUP, PAGE, taskOr } from "../../core/options/limits.ts"
import {
  choice,
  duration,
  instant,
  integer,
  oneOrMore,
  part,
  payload,
  required,
} from "../../core/options/option-types.ts"
import type { When } from "../../core/options/options.ts"
import type { RunState, TriggeredBy } from "../../core/run/run.ts"
import { RUN_STATES } from "../../core/run/run-states.ts"
import type { RunFilter } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { cursor, isMaybeInstantPlace } from "../listing.ts"
import type { Selection } from "../many.ts"
import { CHANGE_REASON } from "../schedules/steering-options.ts"
import type { LogLineView } from "../views.ts"

/** The options of the methods of `scheduler.runs`. */

export interface RunQuery {
  /** The beginning of the id. With this filter the runs are ordered by id, ascending. */
  readonly idPrefix?: string
  readonly schedule?: string
  readonly task?: AnyTask | string
  /** The id of the parent run. */
  readonly parent?: string
  /** The id of the worker that holds the run. */
  readonly worker?: string
  readonly state?: RunState | readonly RunState[]
  readonly triggeredBy?: TriggeredBy | readonly TriggeredBy[]
  /** The time of creation. `since` is inclusive, `until` is exclusive. */
  readonly since?: When
  readonly until?: When
  /**
   * A text in the first 200 characters of the error, ignoring case. This filter has no index: a page may hold fewer runs than
   * `limit` and still have a `next`.
   */
  readonly error?: string
  /** The size of a page. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string
}

/** The runs to change: a list of ids, or a filter. `{ all: true }` selects every run that the operation applies to. */
export type RunSelection = Selection<Omit<RunQuery, "limit" | "cursor">>

const STATES = choice<RunState>(...RUN_STATES)
const TRIGGERED_BY = choice<TriggeredBy>("schedule", "catchup", "manual", "backfill", "api")

/** The filters that a store can count by. */
type CountedBy = Exclude<keyof RunQuery, "since" | "until" | "error" | "limit" | "cursor">

export const RUN_FILTER = {
  idPrefix: LOOKUP,
  schedule: LOOKUP,
  task: taskOr(LOOKUP),
  parent: LOOKUP,
  worker: LOOKUP,
  state: oneOrMore(STATES),
  triggeredBy: oneOrMore(TRIGGERED_BY),
} satisfies Record<CountedBy, OptionType<unknown>>

export const RUN_SELECTION = { ...RUN_FILTER, since: instant, until: instant, error: LOOKUP }

export const RUN_QUERY = {
  ...RUN_SELECTION,
  limit: PAGE,
  cursor: cursor(isMaybeInstantPlace),
} satisfies Record<keyof RunQuery, OptionType<unknown>>

export const LOG_PAGE = {
  after: part({ attempt: required(integer(0, 1_000_000)), number: required(integer(0, 1_000_000_000)) }),
  limit: integer(1, 10_000),
  cursor: cursor(isLogPlace),
}

export type LogPlace = Pick<LogLineView, "attempt" | "number">

function isLogPlace(place: unknown): place is LogPlace {
  const { attempt, number } = Object(place) as Partial<LogPlace>
  return Number.isSafeInteger(attempt) && Number.isSafeInteger(number)
}

export const WAIT = { timeout: duration() }

export const RETRY_OPTIONS = { ...CHANGE_REASON, payload }

export function sourceOf(method: string): OptionSource {
  return { code: "BELFRY_RUN_INVALID", subject: `runs.${method}` }
}

export function idOf(id: unknown, method: string): string {
  return checkedValue(id, required(LOOKUP), { source: sourceOf(method), option: "id" })
}

export function runFilterOf(query: Checked<typeof RUN_FILTER>): RunFilter {
  const { idPrefix, schedule, task, parent, worker, state, triggeredBy } = query
  return {
    ...(idPrefix === undefined ? {} : { idPrefix }),
    ...(schedule === undefined ? {} : { scheduleId: schedule }),
    ...(parent === undefined ? {} : { parentId: parent }),
    ...(worker === undefined ? {} : { workerId: worker }),
    ...(task === undefined ? {} : { task }),
    ...(state === undefined ? {} : { states: state }),
    ...(triggeredBy === undefined ? {} : { triggeredBy }),
  }
}
