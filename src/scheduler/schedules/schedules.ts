import { checked, checkedValue } from "../../core/checked.ts"
import { defineSchedule } from "../../core/definition.ts"
import type { Dependencies } from "../../core/dependency-cycles.ts"
import { BelfryError } from "../../core/errors.ts"
import { COUNT_MAX } from "../../core/limits.ts"
import type { When } from "../../core/options.ts"
import { checkId, scheduleDoor } from "../../core/policies.ts"
import type { Schedule } from "../../core/schedule.ts"
import { createdEntry } from "../../core/schedule-journal.ts"
import type { ScheduleState } from "../../core/schedule-state.ts"
import { move, pause, reschedule, restore, resume, skip } from "../../core/steer.ts"
import type { Clock } from "../../runtime/clock.ts"
import type { Store } from "../../store/store.ts"
import type { AnyTask } from "../../task/task.ts"
import { type Listing, listing } from "../listing.ts"
import { type ScheduleView, scheduleView } from "../views.ts"
import { Workers } from "../workers.ts"
import { type BackfillPlan, doBackfill, planAgain, planBackfill } from "./backfill.ts"
import { deleteSchedule, editSchedule, requireSchedule, type Step, steerSchedule } from "./change-schedule.ts"
import { checkDependencies } from "./dependencies.ts"
import { type LedgerEntry, type LedgerPage, readLedger } from "./ledger.ts"
import { withEditsPlanned } from "./next-plan.ts"
import { checkPayload, checkStoredPayload, examinePayload } from "./payload-check.ts"
import { type OccurrenceView, upcoming } from "./preview.ts"
import {
  changedOptions,
  checkableChanges,
  GIVEN_CHANGES,
  SCHEDULE_CHANGES,
  type ScheduleChanges,
} from "./schedule-options.ts"
import { scheduleToCreate } from "./schedule-to-create.ts"
import {
  BACKFILL_OPTIONS,
  BACKFILL_PLAN,
  type BackfillOptions,
  type Because,
  CREATE_OPTIONS,
  type CreateOptions,
  countOf,
  doorOf,
  idOf,
  instantOf,
  optionalInstantOf,
  PAUSE_OPTIONS,
  PLAN_BACKFILL_OPTIONS,
  PREVIEW_OPTIONS,
  SCHEDULE_FILTER,
  SCHEDULE_QUERY,
  type ScheduleQuery,
  scheduleFilterOf,
  UPDATE_BASE,
  whyOf,
} from "./steering-options.ts"
import { TRIGGER_NOW_OPTIONS, type TriggerNowOptions, type TriggerNowResult, triggerNow } from "./trigger.ts"

/** The schedules in the store: everything that can be done to them and asked of them. */
export class Schedules {
  readonly #store: Store
  readonly #clock: Clock
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #declared: Dependencies
  readonly #workers: Workers
  readonly #examine: typeof examinePayload
  readonly #ready: () => Promise<void>

  constructor(about: {
    store: Store
    clock: Clock
    tasks: ReadonlyMap<string, AnyTask>
    /** What this process declares, and what that depends on; local schedules are in no store. */
    declared: Dependencies
    /** Inside somebody's transaction: what it has made so far isn't there for the tasks to see. */
    isWithin?: boolean
    ready: () => Promise<void>
  }) {
    this.#store = about.store
    this.#clock = about.clock
    this.#tasks = about.tasks
    this.#declared = about.declared
    this.#workers = new Workers(about.store)
    this.#examine = about.isWithin ? checkPayload : examinePayload
    this.#ready = about.ready
  }

  /** Fails if the id is taken. Nothing fires before the first occurrence, unless `startImmediately`. */
  async create<Input>(
    id: string,
    options: CreateOptions<Input>,
    because: Because = {},
  ): Promise<ScheduleView> {
    const given = checked(options, CREATE_OPTIONS, scheduleDoor(checkId(id)))
    const why = whyOf(because, "create")
    await this.#ready()
    const {
      task: _task,
      payload,
      startImmediately: _now,
      paused: _paused,
      ...rest
    } = options as CreateOptions<unknown>
    await this.#examine(this.#tasks, given.task, payload)
    const now = await this.#store.now()
    const about = { id, task: given.task, payload, owner: null, release: 0, now }
    const definition = defineSchedule(rest, about)
    await checkDependencies(this.#store, id, definition, { stored: null, declared: this.#declared })
    const schedule = scheduleToCreate(id, definition, given, now)
    const view = await this.#viewer()
    const swap = await this.#store.putSchedule(schedule, null, createdEntry(schedule, why))
    if (swap.outcome === "done") return view(schedule)
    throw new BelfryError("BELFRY_SCHEDULE_EXISTS", `There is a schedule "${id}" already.`, {
      details: { id },
    })
  }

  /** Null if there is none. */
  async get(id: string): Promise<ScheduleView | null> {
    const ids = [idOf(id, "get")]
    await this.#ready()
    const view = await this.#viewer()
    const [schedule] = await this.#store.findSchedules({ ids }, { orderBy: "id", after: null, limit: 1 })
    return schedule === undefined ? null : view(await withEditsPlanned(this.#store, schedule))
  }

  /** By id, or by when they run next or ran last. */
  list(query: ScheduleQuery = {}): Listing<ScheduleView> {
    const given = checked(query, SCHEDULE_QUERY, doorOf("list"))
    const { order = "id", limit = 50, cursor } = given
    const first = cursor ?? null
    let view: ((schedule: Schedule) => ScheduleView) | null = null
    return listing({
      limit,
      first,
      read: async (after, size) => {
        await this.#ready()
        // Once, however many pages are read.
        if (view === null || after === first) view = await this.#viewer()
        const shown = view
        const found = await this.#store.findSchedules(scheduleFilterOf(given), {
          orderBy: order,
          after,
          limit: size,
        })
        return found.map((schedule) => ({ schedule, shown }))
      },
      placeOf: ({ schedule }) => ({ at: order === "id" ? null : schedule[order], id: schedule.id }),
      show: async ({ schedule, shown }) => shown(await withEditsPlanned(this.#store, schedule)),
    })
  }

  /** How many, by state, each up to 10,000: that number stands for so many or more. */
  async count(
    query: Omit<ScheduleQuery, "order" | "limit" | "cursor"> = {},
  ): Promise<Readonly<Record<ScheduleState, number>>> {
    const given = checked(query, SCHEDULE_FILTER, doorOf("count"))
    await this.#ready()
    return (await this.#store.count({ schedules: scheduleFilterOf(given), limit: COUNT_MAX })).schedules
  }

  /** Changes only what is named; the next occurrence moves only if what is changed says when. */
  async update(
    id: string,
    changes: ScheduleChanges,
    based: Because & { ifRevision: number },
  ): Promise<ScheduleView> {
    const scheduleId = idOf(id, "update")
    const door = scheduleDoor(scheduleId)
    checkedValue(changes, GIVEN_CHANGES, { door, option: "changes" })
    const given = checked(checkableChanges(changes, null), SCHEDULE_CHANGES, door)
    const { ifRevision, reason = null, by = null } = checked(based, UPDATE_BASE, doorOf("update"))
    await this.#ready()
    const view = await this.#viewer()
    const edited = await editSchedule(this.#store, scheduleId, {
      ifRevision,
      why: { reason, by },
      define: async (stored) => {
        checked(checkableChanges(changes, stored), SCHEDULE_CHANGES, door)
        const payload = given.payload === undefined ? stored.payload : given.payload
        // What was there before is only checked: a schedule whose function is gone can still be disabled.
        const check = given.payload === undefined ? checkStoredPayload : this.#examine
        await check(this.#tasks, stored.task, payload)
        const { task, owner, release } = stored
        const now = await this.#store.now()
        const about = { id, task, payload, owner, release, now }
        const definition = defineSchedule(changedOptions(stored, changes), about)
        await checkDependencies(this.#store, id, definition, { stored, declared: this.#declared })
        return definition
      },
    })
    return view(edited)
  }

  /** True if it was there. Its runs stay. */
  async delete(id: string, because: Because = {}): Promise<boolean> {
    const scheduleId = idOf(id, "delete")
    const why = whyOf(because, "delete")
    await this.#ready()
    return deleteSchedule(this.#store, scheduleId, why)
  }

  /** Drops occurrences until it is resumed, or until the time given; the interval is recorded. */
  async pause(id: string, options: Because & { until?: When } = {}): Promise<ScheduleView> {
    const { until = null, reason = null, by = null } = checked(options, PAUSE_OPTIONS, doorOf("pause"))
    return this.#steer("pause", id, {
      action: "paused",
      why: { reason, by },
      decide: (schedule, facts, now) => pause(schedule, { reason, by, until }, facts, now),
    })
  }

  /** On from now. One whose last occurrence fell into the pause, and that is removed when it has finished, is returned as finished. */
  async resume(id: string, because: Because = {}): Promise<ScheduleView> {
    const why = whyOf(because, "resume")
    return this.#steer("resume", id, { action: "resumed", why, decide: resume }, { mayFinish: true })
  }

  /** One run, now; the next occurrence is untouched. */
  async trigger(id: string, options: TriggerNowOptions = {}): Promise<TriggerNowResult> {
    const scheduleId = idOf(id, "trigger")
    const given = checked(options, TRIGGER_NOW_OPTIONS, doorOf("trigger", "BELFRY_RUN_INVALID"))
    await this.#ready()
    const runId = `${scheduleId}+${this.#clock.newId()}`
    return triggerNow(this.#store, { scheduleId, runId, tasks: this.#tasks }, given)
  }

  /** The next occurrence is at that time, then on from there; those passed over are recorded. */
  async reschedule(id: string, to: When, because: Because = {}): Promise<ScheduleView> {
    const target = instantOf(to, "to", "reschedule")
    const why = whyOf(because, "reschedule")
    return this.#steer("reschedule", id, {
      action: "rescheduled",
      why,
      decide: (schedule, facts, now) => reschedule(schedule, target, why, facts, now),
    })
  }

  /** Leaves out one occurrence to come: the next unless said. */
  async skip(id: string, scheduledFor?: When, because: Because = {}): Promise<ScheduleView> {
    const occurrence = optionalInstantOf(scheduledFor, "scheduledFor", "skip")
    const why = whyOf(because, "skip")
    return this.#steer("skip", id, {
      action: "skipped",
      why,
      decide: (schedule, _facts, now) => skip(schedule, occurrence, why, now),
    })
  }

  /** Another time for one occurrence, between its neighbours; it keeps its identity. */
  async move(id: string, scheduledFor: When, to: When, because: Because = {}): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "move")
    const target = instantOf(to, "to", "move")
    const why = whyOf(because, "move")
    return this.#steer("move", id, {
      action: "moved",
      why,
      decide: (schedule, _facts, now) => move(schedule, occurrence, target, why, now),
    })
  }

  /** Takes back a skip or a move. */
  async restore(id: string, scheduledFor: When, because: Because = {}): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "restore")
    return this.#steer("restore", id, {
      action: "restored",
      why: whyOf(because, "restore"),
      decide: (schedule, facts, now) => restore(schedule, occurrence, facts, now),
    })
  }

  /** The next occurrences, by the same function that fires them; with `after`, those after that time. */
  async preview(id: string, count = 10, options: { after?: When } = {}): Promise<readonly OccurrenceView[]> {
    const scheduleId = idOf(id, "preview")
    const limit = countOf(count, "preview") ?? 10
    const { after } = checked(options, PREVIEW_OPTIONS, doorOf("preview"))
    await this.#ready()
    const schedule = await withEditsPlanned(this.#store, await requireSchedule(this.#store, scheduleId))
    return upcoming(schedule, await this.#store.now(), { count: limit, after: after ?? null })
  }

  /** Past occurrences, newest first, each with what became of it and why. */
  occurrences(id: string, page: LedgerPage = {}): Listing<LedgerEntry> {
    const scheduleId = idOf(id, "occurrences")
    return readLedger({ store: this.#store, ready: this.#ready }, scheduleId, page)
  }

  /** What a backfill would do. Changes nothing. */
  async planBackfill(id: string, options: BackfillOptions): Promise<BackfillPlan> {
    const scheduleId = idOf(id, "planBackfill")
    const given = checked(options, PLAN_BACKFILL_OPTIONS, doorOf("planBackfill", "BELFRY_BACKFILL_INVALID"))
    await this.#ready()
    const { which = "missing", name = "backfill" } = given
    const range = { from: new Date(given.from), until: new Date(given.until), which, name }
    return planBackfill(this.#store, await requireSchedule(this.#store, scheduleId), range)
  }

  /** Does what was planned, or refuses if it would now be something else. Returns the ids of the runs created. */
  async backfill(
    plan: BackfillPlan,
    options: { concurrency?: number; by?: string; onProgress?: (done: number, total: number) => void } = {},
  ): Promise<readonly string[]> {
    const door = doorOf("backfill", "BELFRY_BACKFILL_INVALID")
    const planned = checkedValue(plan, BACKFILL_PLAN, { door, option: "plan" })
    const { concurrency = 1, by = null, onProgress } = checked(options, BACKFILL_OPTIONS, door)
    await this.#ready()
    const schedule = await requireSchedule(this.#store, planned.scheduleId)
    const range = { from: new Date(planned.from), until: new Date(planned.until) }
    const current = await planAgain(this.#store, schedule, { ...planned, ...range })
    return doBackfill(this.#store, schedule, current, {
      concurrency,
      by,
      ...(onProgress !== undefined && { onProgress }),
    })
  }

  async #steer(
    method: string,
    id: string,
    step: Step,
    options: Parameters<typeof steerSchedule>[3] = {},
  ): Promise<ScheduleView> {
    const scheduleId = idOf(id, method)
    await this.#ready()
    const view = await this.#viewer()
    return view(await steerSchedule(this.#store, scheduleId, step, options))
  }

  /** Reads the workers, once. Before a change: what has been done must not seem to fail because they can't be read. */
  async #viewer(): Promise<(schedule: Schedule) => ScheduleView> {
    const [offered, now] = [await this.#workers.offeredTasks(), await this.#store.now()]
    return (schedule) => scheduleView(schedule, offered, now)
  }
}
