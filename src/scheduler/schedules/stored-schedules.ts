import type { Lint } from "../../core/cron/lint.ts"
import { checked, checkedValue } from "../../core/options/checked.ts"
import { COUNT_MAX } from "../../core/options/limits.ts"
import type { When } from "../../core/options/options.ts"
import { move, reschedule, restore, skip } from "../../core/planning/steer.ts"
import { lintsOfSchedule } from "../../core/schedule/schedule-lints.ts"
import type { ScheduleCounts } from "../../core/schedule/schedule-state.ts"
import type { Listing } from "../listing.ts"
import { isSelection, type ManyOptions, type ManyReport } from "../many.ts"
import type { ScheduleView } from "../views.ts"
import { type ApplyOptions, type ApplyReport, applySchedules, type ScheduleToApply } from "./apply.ts"
import { type BackfillPlan, doBackfill, planAgain, planBackfill } from "./backfill.ts"
import { deleteSchedule, requireSchedule, type ScheduleOperation, steerSchedule } from "./change-schedule.ts"
import { createSchedule, putSchedule, updateSchedule } from "./define-schedules.ts"
import { type LedgerEntry, type LedgerPage, readLedger } from "./ledger.ts"
import { lintFactsOf } from "./lint-facts.ts"
import { listLints, type ScheduleLints } from "./list-lints.ts"
import { listSchedules } from "./list-schedules.ts"
import { withEditsPlanned } from "./next-plan.ts"
import { type OccurrenceView, upcoming } from "./preview.ts"
import {
  DELETE_MANY,
  MAY_FINISH,
  PAUSE_MANY,
  pauseOperation,
  RESUME_MANY,
  resumeOperation,
} from "./schedule-operations.ts"
import type { ScheduleChanges } from "./schedule-options.ts"
import { type ScheduleParts, viewerOf } from "./schedule-parts.ts"
import type { Schedules } from "./schedules.ts"
import { steerMany } from "./steer-many.ts"
import {
  BACKFILL_OPTIONS,
  BACKFILL_PLAN,
  type BackfillOptions,
  type ChangeReason,
  type CreateOptions,
  countOf,
  idOf,
  instantOf,
  optionalInstantOf,
  PAUSE_OPTIONS,
  type PauseOptions,
  PLAN_BACKFILL_OPTIONS,
  PREVIEW_OPTIONS,
  type PutOptions,
  SCHEDULE_FILTER,
  type ScheduleQuery,
  type ScheduleSelection,
  scheduleFilterOf,
  sourceOf,
  type UpdateOptions,
  whyOf,
} from "./steering-options.ts"
import { TRIGGER_NOW_OPTIONS, type TriggerNowOptions, type TriggerNowResult, triggerNow } from "./trigger.ts"

/** The schedules in a store. The methods are documented in `Schedules`. */
export class StoredSchedules implements Schedules {
  readonly #parts: ScheduleParts

  constructor(parts: ScheduleParts) {
    this.#parts = parts
  }

  create<Input>(
    id: string,
    options: CreateOptions<Input>,
    because: ChangeReason = {},
  ): Promise<ScheduleView> {
    return createSchedule(this.#parts, id, options as CreateOptions<unknown>, because)
  }

  put<Input>(id: string, options: CreateOptions<Input>, based: PutOptions = {}): Promise<ScheduleView> {
    return putSchedule(this.#parts, id, options as CreateOptions<unknown>, based)
  }

  update(id: string, changes: ScheduleChanges, based: UpdateOptions): Promise<ScheduleView> {
    return updateSchedule(this.#parts, id, changes, based)
  }

  apply(schedules: readonly ScheduleToApply[], options: ApplyOptions = {}): Promise<ApplyReport> {
    return applySchedules(this.#parts, schedules, options)
  }

  async get(id: string): Promise<ScheduleView | null> {
    const ids = [idOf(id, "get")]
    await this.#parts.ready()
    const view = await viewerOf(this.#parts.store)
    const [schedule] = await this.#parts.store.findSchedules(
      { ids },
      { orderBy: "id", after: null, limit: 1 },
    )
    return schedule === undefined ? null : view(await withEditsPlanned(this.#parts.store, schedule))
  }

  list(query: ScheduleQuery = {}): Listing<ScheduleView> {
    return listSchedules(this.#parts, query)
  }

  async count(
    query: Omit<ScheduleQuery, "order" | "limit" | "cursor"> = {},
  ): Promise<Readonly<ScheduleCounts>> {
    const given = checked(query, SCHEDULE_FILTER, sourceOf("count"))
    await this.#parts.ready()
    return (await this.#parts.store.count({ schedules: scheduleFilterOf(given), limit: COUNT_MAX })).schedules
  }

  delete(id: string, because?: ChangeReason): Promise<boolean>
  delete(which: ScheduleSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>
  async delete(
    which: string | ScheduleSelection,
    options: ChangeReason & ManyOptions = {},
  ): Promise<unknown> {
    if (isSelection(which)) return steerMany(this.#parts, which, options, DELETE_MANY)
    const scheduleId = idOf(which, "delete")
    const why = whyOf(options, "delete")
    await this.#parts.ready()
    return deleteSchedule(this.#parts.store, scheduleId, why)
  }

  pause(id: string, options?: PauseOptions): Promise<ScheduleView>
  pause(which: ScheduleSelection, options?: PauseOptions & ManyOptions): Promise<ManyReport>
  async pause(which: string | ScheduleSelection, options: PauseOptions & ManyOptions = {}): Promise<unknown> {
    if (isSelection(which)) return steerMany(this.#parts, which, options, PAUSE_MANY)
    return this.#steer("pause", which, pauseOperation(checked(options, PAUSE_OPTIONS, sourceOf("pause"))))
  }

  resume(id: string, because?: ChangeReason): Promise<ScheduleView>
  resume(which: ScheduleSelection, options?: ChangeReason & ManyOptions): Promise<ManyReport>
  async resume(
    which: string | ScheduleSelection,
    options: ChangeReason & ManyOptions = {},
  ): Promise<unknown> {
    if (isSelection(which)) return steerMany(this.#parts, which, options, RESUME_MANY)
    return this.#steer("resume", which, resumeOperation(whyOf(options, "resume")), MAY_FINISH)
  }

  async trigger(id: string, options: TriggerNowOptions = {}): Promise<TriggerNowResult> {
    const scheduleId = idOf(id, "trigger")
    const given = checked(options, TRIGGER_NOW_OPTIONS, sourceOf("trigger", "BELFRY_RUN_INVALID"))
    await this.#parts.ready()
    const runId = `${scheduleId}+${this.#parts.clock.newId()}`
    return triggerNow(this.#parts.store, { scheduleId, runId, tasks: this.#parts.tasks }, given)
  }

  async reschedule(id: string, to: When, because: ChangeReason = {}): Promise<ScheduleView> {
    const target = instantOf(to, "to", "reschedule")
    const why = whyOf(because, "reschedule")
    return this.#steer("reschedule", id, {
      action: "rescheduled",
      why,
      decide: (schedule, facts, now) => reschedule(schedule, target, why, facts, now),
    })
  }

  async skip(id: string, scheduledFor?: When, because: ChangeReason = {}): Promise<ScheduleView> {
    const occurrence = optionalInstantOf(scheduledFor, "scheduledFor", "skip")
    const why = whyOf(because, "skip")
    return this.#steer("skip", id, {
      action: "skipped",
      why,
      decide: (schedule, _facts, now) => skip(schedule, occurrence, why, now),
    })
  }

  async move(id: string, scheduledFor: When, to: When, because: ChangeReason = {}): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "move")
    const target = instantOf(to, "to", "move")
    const why = whyOf(because, "move")
    return this.#steer("move", id, {
      action: "moved",
      why,
      decide: (schedule, _facts, now) => move(schedule, occurrence, target, why, now),
    })
  }

  async restore(id: string, scheduledFor: When, because: ChangeReason = {}): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "restore")
    return this.#steer("restore", id, {
      action: "restored",
      why: whyOf(because, "restore"),
      decide: (schedule, facts, now) => restore(schedule, occurrence, facts, now),
    })
  }

  async preview(id: string, count = 10, options: { after?: When } = {}): Promise<readonly OccurrenceView[]> {
    const scheduleId = idOf(id, "preview")
    const limit = countOf(count, "preview") ?? 10
    const { after } = checked(options, PREVIEW_OPTIONS, sourceOf("preview"))
    await this.#parts.ready()
    const schedule = await withEditsPlanned(
      this.#parts.store,
      await requireSchedule(this.#parts.store, scheduleId),
    )
    return upcoming(schedule, await this.#parts.store.now(), { count: limit, after: after ?? null })
  }

  async lints(id: string): Promise<readonly Lint[]> {
    const scheduleId = idOf(id, "lints")
    await this.#parts.ready()
    const { store } = this.#parts
    const schedule = await requireSchedule(store, scheduleId)
    const now = await store.now()
    return lintsOfSchedule(schedule, now, await lintFactsOf(store, schedule, now))
  }

  listLints(page: { limit?: number; cursor?: string } = {}): Listing<ScheduleLints> {
    return listLints(this.#parts, page)
  }

  occurrences(id: string, page: LedgerPage = {}): Listing<LedgerEntry> {
    const scheduleId = idOf(id, "occurrences")
    return readLedger(this.#parts, scheduleId, page)
  }

  async planBackfill(id: string, options: BackfillOptions): Promise<BackfillPlan> {
    const scheduleId = idOf(id, "planBackfill")
    const given = checked(options, PLAN_BACKFILL_OPTIONS, sourceOf("planBackfill", "BELFRY_BACKFILL_INVALID"))
    await this.#parts.ready()
    const { which = "missing", name = "backfill" } = given
    const range = { from: new Date(given.from), until: new Date(given.until), which, name }
    return planBackfill(this.#parts.store, await requireSchedule(this.#parts.store, scheduleId), range)
  }

  async backfill(
    plan: BackfillPlan,
    options: { concurrency?: number; by?: string; onProgress?: (done: number, total: number) => void } = {},
  ): Promise<readonly string[]> {
    const source = sourceOf("backfill", "BELFRY_BACKFILL_INVALID")
    const planned = checkedValue(plan, BACKFILL_PLAN, { source, option: "plan" })
    const { concurrency = 1, by = null, onProgress } = checked(options, BACKFILL_OPTIONS, source)
    await this.#parts.ready()
    const schedule = await requireSchedule(this.#parts.store, planned.scheduleId)
    const range = { from: new Date(planned.from), until: new Date(planned.until) }
    const current = await planAgain(this.#parts.store, schedule, { ...planned, ...range })
    return doBackfill(this.#parts.store, schedule, current, {
      concurrency,
      by,
      ...(onProgress !== undefined && { onProgress }),
    })
  }

  async #steer(
    method: string,
    id: string,
    operation: ScheduleOperation,
    options: Parameters<typeof steerSchedule>[3] = {},
  ): Promise<ScheduleView> {
    const scheduleId = idOf(id, method)
    await this.#parts.ready()
    const view = await viewerOf(this.#parts.store)
    return view(await steerSchedule(this.#parts.store, scheduleId, operation, options))
  }
}
