import { type Checked, checked, checkedValue, type Kind, type OptionSource } from "../../core/checked.ts"
import { SCHEDULE_OPTIONS } from "../../core/definition.ts"
import type { ErrorCode } from "../../core/errors.ts"
import type { Instant } from "../../core/instant.ts"
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
} from "../../core/kinds.ts"
import { CONCURRENCY, LOOKUP, PAGE, TASK_NAME, taskOr } from "../../core/limits.ts"
import type { ScheduleOptions, When } from "../../core/options.ts"
import { SCHEDULE_STATES, type ScheduleState } from "../../core/schedule-state.ts"
import type { Why } from "../../core/steer.ts"
import type { ScheduleFilter } from "../../store/store.ts"
import type { PayloadOption } from "../../task/declared-schedule.ts"
import type { AnyTask, Task } from "../../task/task.ts"
import { cursor, isMaybeInstantPlace } from "../listing.ts"
import type { Selection } from "../many.ts"
import { BACKFILL_MAX, type BackfillRange } from "./backfill.ts"

/** What the methods of `scheduler.schedules` take, but for the schedule itself. */

export interface Because {
  readonly reason?: string
  /** Who asks. */
  readonly by?: string
}

export type CreateOptions<Input> = ScheduleOptions &
  PayloadOption<Input> & {
    readonly task: Task<Input, unknown> | string
    /** Fire once at creation, too. */
    readonly startImmediately?: boolean
    /** Paused from its first moment. */
    readonly paused?: boolean | { readonly until?: When; readonly reason?: string; readonly by?: string }
  }

export interface ScheduleQuery {
  /** How the id begins. */
  readonly idPrefix?: string
  readonly owner?: string
  readonly task?: AnyTask | string
  readonly tag?: string
  readonly state?: ScheduleState | readonly ScheduleState[]
  /** Is in its id, its task or its description, whatever the case of ASCII letters. */
  readonly text?: string
  /** By id; the soonest next run first; or the newest last run first. By id unless said. */
  readonly order?: "id" | "nextRunAt" | "lastRunAt"
  readonly limit?: number
  /** The `next` of the page before. */
  readonly cursor?: string
}

/** Which schedules: by their ids, or by a filter. `{ all: true }` means every one. */
export type ScheduleSelection = Selection<Omit<ScheduleQuery, "order" | "limit" | "cursor">>

export interface PauseOptions extends Because {
  readonly until?: When
}

export interface BackfillOptions {
  readonly from: When
  readonly until: When
  readonly which?: BackfillRange["which"]
  readonly name?: string
}

const PAUSED_PARTS = record({ until: instant, reason: remark, by: remark })

/** True, or what a pause says. */
const PAUSED: Kind<{ until?: Instant; reason?: string; by?: string } | null> = {
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
} satisfies Record<keyof CreateOptions<unknown>, Kind<unknown>>

export const BECAUSE = { reason: remark, by: remark } satisfies Record<keyof Because, Kind<unknown>>

export const PAUSE_OPTIONS = { ...BECAUSE, until: instant } satisfies Record<
  keyof PauseOptions,
  Kind<unknown>
>

const REVISION = integer(1, 2_147_483_647)

/** Required, so that nobody overwrites a change they haven't seen. */
export const UPDATE_BASE = { ...BECAUSE, ifRevision: required(REVISION) }

export const PUT_BASE = { ...BECAUSE, ifRevision: REVISION }

export const PREVIEW_OPTIONS = { after: instant }

const WHICH = choice<BackfillRange["which"]>("missing", "failed", "all")
const BACKFILL_NAME = textLike(/^[A-Za-z0-9_-]{1,64}$/, '1 to 64 letters, digits, "_" and "-"')

export const PLAN_BACKFILL_OPTIONS = {
  from: required(instant),
  until: required(instant),
  which: WHICH,
  name: BACKFILL_NAME,
} satisfies Record<keyof BackfillOptions, Kind<unknown>>

/** Of a plan, what names it; what it does is worked out again. */
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
} satisfies Record<keyof ScheduleQuery, Kind<unknown>>

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

export function whyOf(because: Because, method: string): Why {
  const { reason = null, by = null } = checked(because, BECAUSE, sourceOf(method))
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
