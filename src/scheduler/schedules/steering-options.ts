import type { ErrorCode } from "../../core/errors.ts"
import {
  type Checked,
  checked,
  checkedValue,
  type OptionSource,
  type OptionType,
} from "../../core/options/checked.ts"
import { SCHEDULE_OPTIONS } from "../../core/options/definition.ts"
import { CONCURRENCY, LOOKUP, PAGE, TASK_NAME, taskOr } from "../../core/options/limits.ts"
import {
  callback,
  choice,
  flag,
  instant,
  integer,
  list,
  oneOrMore,
  part,
  payload,
  record,
  remark,
  required,
  textLike,
} from "../../core/options/option-types.ts"
import type { ScheduleOptions, When } from "../../core/options/options.ts"
import type { Why } from "../../core/planning/steer.ts"
import { SCHEDULE_STATES, type ScheduleState } from "../../core/schedule/schedule-state.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { ScheduleFilter } from "../../store/store.ts"
import type { PayloadOption } from "../../task/declared-schedule.ts"
import type { AnyTask, Task } from "../../task/task.ts"
import { cursor, isMaybeInstantPlace } from "../listing.ts"
import type { Selection } from "../many.ts"
import { BACKFILL_MAX, type BackfillRange } from "./backfill.ts"

/** The options of the methods of `scheduler.schedules`, except the definition of a schedule. */

export interface ChangeReason {
  readonly reason?: string
  /** The name of the person or program that asks. */
  readonly by?: string
}

export type CreateOptions<Input> = ScheduleOptions &
  PayloadOption<Input> & {
    readonly task: Task<Input, unknown> | string
    /** Also fire once at creation. */
    readonly startImmediately?: boolean
    /** Create the schedule paused. */
    readonly paused?: boolean | { readonly until?: When; readonly reason?: string; readonly by?: string }
  }

export interface ScheduleQuery {
  /** The beginning of the id. */
  readonly idPrefix?: string
  readonly owner?: string
  readonly task?: AnyTask | string
  readonly tag?: string
  readonly state?: ScheduleState | readonly ScheduleState[]
  /** A text in the id, the task or the description. The case of ASCII letters is ignored. */
  readonly text?: string
  /** `nextRunAt`: the soonest next run first. `lastRunAt`: the most recent run first. Default `id`. */
  readonly order?: "id" | "nextRunAt" | "lastRunAt"
  /** The size of a page. Default 50. */
  readonly limit?: number
  /** The `next` of the previous page. */
  readonly cursor?: string
}

/** The schedules to change: a list of ids, or a filter. `{ all: true }` selects every schedule. */
export type ScheduleSelection = Selection<Omit<ScheduleQuery, "order" | "limit" | "cursor">>

export interface PutOptions extends ChangeReason {
  /** The schedule is replaced only if it is at this revision. */
  readonly ifRevision?: number
  /** Returns the schedule as it would be and changes nothing. Refuses what the real call refuses. */
  readonly dryRun?: boolean
}

export interface UpdateOptions extends PutOptions {
  /** The revision that the change is based on. It is required, so that no change overwrites one that its author hasn't read. */
  readonly ifRevision: number
}

export interface PauseOptions extends ChangeReason {
  readonly until?: When
}

export interface BackfillOptions {
  readonly from: When
  readonly until: When
  readonly which?: BackfillRange["which"]
  readonly name?: string
}

const PAUSED_PARTS = record({ until: instant, reason: remark, by: remark })

/** A boolean, or the details of the pause. */
const PAUSED: OptionType<{ until?: Instant; reason?: string; by?: string } | null> = {
  ...PAUSED_PARTS,
  allowed: `true or false, or ${PAUSED_PARTS.allowed}`,
  read(value, at) {
    if (typeof value === "boolean") return value ? {} : null
    const { until, reason, by } = PAUSED_PARTS.read(value, at)
    return {
      ...(until === undefined ? {} : { until }),
      ...(reason === undefined ? {} : { reason }),
      ...(by === undefined ? {} : { by }),
    }
  },
}

export const CREATE_OPTIONS = {
  ...SCHEDULE_OPTIONS,
  task: required(taskOr(TASK_NAME)),
  payload,
  startImmediately: flag,
  paused: PAUSED,
} satisfies Record<keyof CreateOptions<unknown>, OptionType<unknown>>

export const CHANGE_REASON = { reason: remark, by: remark } satisfies Record<
  keyof ChangeReason,
  OptionType<unknown>
>

export const PAUSE_OPTIONS = { ...CHANGE_REASON, until: instant } satisfies Record<
  keyof PauseOptions,
  OptionType<unknown>
>

const REVISION = integer(1, 2_147_483_647)

export const PUT_BASE = { ...CHANGE_REASON, ifRevision: REVISION, dryRun: flag } satisfies Record<
  keyof PutOptions,
  OptionType<unknown>
>

export const UPDATE_BASE = { ...PUT_BASE, ifRevision: required(REVISION) } satisfies Record<
  keyof UpdateOptions,
  OptionType<unknown>
>

export const PREVIEW_OPTIONS = { after: instant }

const WHICH = choice<BackfillRange["which"]>("missing", "failed", "all")
const BACKFILL_NAME = textLike(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, "_" and "-"')

export const PLAN_BACKFILL_OPTIONS = {
  from: required(instant),
  until: required(instant),
  which: WHICH,
  name: BACKFILL_NAME,
} satisfies Record<keyof BackfillOptions, OptionType<unknown>>

/** The fields of a plan that are read. The occurrences themselves are computed again. */
export const BACKFILL_PLAN = required(
  part({
    ...PLAN_BACKFILL_OPTIONS,
    which: required(WHICH),
    name: required(BACKFILL_NAME),
    scheduleId: required(LOOKUP),
    planId: required(LOOKUP),
    occurrences: required(list(instant, { max: BACKFILL_MAX })),
  }),
)

export const SCHEDULE_FILTER = {
  idPrefix: LOOKUP,
  owner: LOOKUP,
  task: taskOr(LOOKUP),
  tag: LOOKUP,
  state: oneOrMore(choice<ScheduleState>(...SCHEDULE_STATES)),
  text: LOOKUP,
}

export const SCHEDULE_QUERY = {
  ...SCHEDULE_FILTER,
  order: choice<"id" | "nextRunAt" | "lastRunAt">("id", "nextRunAt", "lastRunAt"),
  limit: PAGE,
  cursor: cursor(isMaybeInstantPlace),
} satisfies Record<keyof ScheduleQuery, OptionType<unknown>>

export const BACKFILL_OPTIONS = {
  concurrency: CONCURRENCY,
  by: remark,
  onProgress: callback<(done: number, total: number) => void>(),
}

export function sourceOf(method: string, code: ErrorCode = "BELFRY_SCHEDULE_INVALID"): OptionSource {
  return { code, subject: `schedules.${method}` }
}

export function idOf(id: unknown, method: string): string {
  return checkedValue(id, required(LOOKUP), { source: sourceOf(method), option: "id" })
}

export function instantOf(when: When, option: string, method: string): Instant {
  return checkedValue(when, required(instant), { source: sourceOf(method), option })
}

export function optionalInstantOf(when: When | undefined, option: string, method: string): Instant | null {
  return checkedValue(when, instant, { source: sourceOf(method), option }) ?? null
}

export function countOf(count: number | undefined, method: string): number | undefined {
  return checkedValue(count, PAGE, { source: sourceOf(method), option: "count" })
}

export function whyOf(because: ChangeReason, method: string): Why {
  const { reason = null, by = null } = checked(because, CHANGE_REASON, sourceOf(method))
  return { reason, by }
}

export function scheduleFilterOf(given: Checked<typeof SCHEDULE_FILTER>): ScheduleFilter {
  const { owner, task, tag, state, text, idPrefix } = given
  return {
    ...(owner === undefined ? {} : { owner }),
    ...(task === undefined ? {} : { task }),
    ...(tag === undefined ? {} : { tag }),
    ...(state === undefined ? {} : { states: state }),
    ...(text === undefined ? {} : { text }),
    ...(idPrefix === undefined ? {} : { idPrefix }),
  }
}
