import { checked, checkedValue } from "../core/checked.ts"
import { defineSchedule, newSchedule } from "../core/definition.ts"
import { BelfryError } from "../core/errors.ts"
import type { Instant } from "../core/instant.ts"
import { toPayload } from "../core/json.ts"
import { describeTriggers } from "../core/new-run.ts"
import type { ScheduleOptions, When } from "../core/options.ts"
import { checkId, scheduleDoor } from "../core/policies.ts"
import type { Schedule, ScheduleDefinition } from "../core/schedule.ts"
import { move, occurrenceToCome, pause, reschedule, restore, resume, skip } from "../core/steer.ts"
import type { Clock } from "../engine/clock.ts"
import { type AnyTask, type PayloadOption, type Task, validatePayload } from "../engine/task.ts"
import { accepted } from "../store/refused.ts"
import type { Store } from "../store/store.ts"
import { BACKFILL_MAX, type BackfillPlan, type BackfillRange, doBackfill, planBackfill } from "./backfill.ts"
import { deleteSchedule, editSchedule, requireSchedule, steerSchedule } from "./change-schedule.ts"
import { checkDependencies } from "./dependencies.ts"
import { type Ledger, type LedgerPage, readLedger } from "./ledger.ts"
import { type OccurrenceView, upcoming } from "./preview.ts"
import { changedOptions, SCHEDULE_CHANGES, type ScheduleChanges } from "./schedule-options.ts"
import {
  BACKFILL_OPTIONS,
  BACKFILL_PLAN,
  CREATE_OPTIONS,
  countOf,
  doorOf,
  idOf,
  instantOf,
  optionalInstantOf,
  PAUSE_OPTIONS,
  PLAN_BACKFILL_OPTIONS,
  PREVIEW_OPTIONS,
  UPDATE_BASE,
  whyOf,
} from "./steering-options.ts"
import { cancelUnfinished, manualRun, TRIGGER_NOW_OPTIONS, type TriggerNowOptions } from "./trigger.ts"
import { type ScheduleView, scheduleView } from "./views.ts"

export type { TriggerNowOptions } from "./trigger.ts"

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
  }

export interface TriggerNowResult {
  /** `skipped`: the overlap policy is `skip` and `runId` is still unfinished. */
  readonly outcome: "created" | "skipped"
  readonly runId: string
}

export interface BackfillOptions {
  readonly from: When
  readonly until: When
  readonly which?: BackfillRange["which"]
  readonly name?: string
}

/** The schedules in the store: everything that can be done to them and asked of them. */
export class Schedules {
  readonly #store: Store
  readonly #clock: Clock
  readonly #tasks: ReadonlyMap<string, AnyTask>
  readonly #declared: ReadonlySet<string>
  readonly #ready: () => Promise<void>

  constructor(about: {
    store: Store
    clock: Clock
    tasks: ReadonlyMap<string, AnyTask>
    /** Ids that this process declares; local ones are in no store. */
    declared: ReadonlySet<string>
    ready: () => Promise<void>
  }) {
    this.#store = about.store
    this.#clock = about.clock
    this.#tasks = about.tasks
    this.#declared = about.declared
    this.#ready = about.ready
  }

  /** Fails if the id is taken. Nothing fires before the first occurrence, unless `startImmediately`. */
  async create<Input>(id: string, options: CreateOptions<Input>): Promise<ScheduleView> {
    const given = checked(options, CREATE_OPTIONS, scheduleDoor(checkId(id)))
    await this.#ready()
    const { task: _task, payload, startImmediately: _now, ...rest } = options as CreateOptions<unknown>
    await this.#checkPayload(given.task, payload)
    const now = await this.#store.now()
    const about = { id, task: given.task, payload, owner: null, release: 0, now }
    const definition = defineSchedule(rest, about)
    await checkDependencies(this.#store, id, definition, { stored: null, declared: this.#declared })
    const schedule = given.startImmediately
      ? startingNow(id, definition, now)
      : newSchedule(id, definition, now)
    if (schedule.finishedAt !== null) {
      throw new BelfryError(
        "BELFRY_SCHEDULE_INVALID",
        `Schedule "${id}" has no occurrence to come: ${describeTriggers(schedule.triggers)} has passed.`,
        { details: { id } },
      )
    }
    const swap = await this.#store.putSchedule(schedule, null)
    if (swap.outcome === "done") return scheduleView(schedule)
    throw new BelfryError("BELFRY_SCHEDULE_EXISTS", `There is a schedule "${id}" already.`, {
      details: { id },
    })
  }

  /** Null if there is none. */
  async get(id: string): Promise<ScheduleView | null> {
    const ids = [idOf(id, "get")]
    await this.#ready()
    const [schedule] = await this.#store.findSchedules({ ids }, { afterId: null, limit: 1 })
    return schedule === undefined ? null : scheduleView(schedule)
  }

  /** By id. All of them, or with `limit` a page; `after` is the last id of the page before. */
  async list(
    filter: { owner?: string; task?: string; tag?: string; after?: string; limit?: number } = {},
  ): Promise<readonly ScheduleView[]> {
    await this.#ready()
    const { after = null, limit, ...rest } = filter
    const found: ScheduleView[] = []
    for (let afterId = after; ; afterId = found.at(-1)!.id) {
      const size = limit === undefined ? LIST_PAGE : pageSize(limit)
      const page = await this.#store.findSchedules(rest, { afterId, limit: size })
      found.push(...page.map(scheduleView))
      if (limit !== undefined || page.length < size) return found
    }
  }

  /** Changes only what is named; the next occurrence moves only if what is changed says when. */
  async update(id: string, changes: ScheduleChanges, based: { ifRevision: number }): Promise<ScheduleView> {
    const scheduleId = idOf(id, "update")
    const given = checked(changes, SCHEDULE_CHANGES, scheduleDoor(scheduleId))
    const { ifRevision } = checked(based, UPDATE_BASE, doorOf("update"))
    await this.#ready()
    const edited = await editSchedule(this.#store, scheduleId, {
      ifRevision,
      define: async (stored) => {
        const payload = given.payload === undefined ? stored.payload : given.payload
        await this.#checkPayload(stored.task, payload)
        const { task, owner, release } = stored
        const now = await this.#store.now()
        const about = { id, task, payload, owner, release, now }
        const definition = defineSchedule(changedOptions(stored, changes), about)
        await checkDependencies(this.#store, id, definition, { stored, declared: this.#declared })
        return definition
      },
    })
    return scheduleView(edited)
  }

  /** True if it was there. Its runs stay. */
  async delete(id: string): Promise<boolean> {
    const scheduleId = idOf(id, "delete")
    await this.#ready()
    return deleteSchedule(this.#store, scheduleId)
  }

  /** Drops occurrences until it is resumed, or until the time given; the interval is recorded. */
  async pause(id: string, options: Because & { until?: When } = {}): Promise<ScheduleView> {
    const { until = null, reason = null, by = null } = checked(options, PAUSE_OPTIONS, doorOf("pause"))
    return this.#steer("pause", id, (schedule, facts, now) =>
      pause(schedule, { reason, by, until }, facts, now),
    )
  }

  async resume(id: string): Promise<ScheduleView> {
    return this.#steer("resume", id, resume)
  }

  /** One run, now; the next occurrence is untouched. */
  async trigger(id: string, options: TriggerNowOptions = {}): Promise<TriggerNowResult> {
    const scheduleId = idOf(id, "trigger")
    const given = checked(options, TRIGGER_NOW_OPTIONS, doorOf("trigger", "BELFRY_RUN_INVALID"))
    await this.#ready()
    const schedule = await requireSchedule(this.#store, scheduleId)
    const own = given.payload
    const payload = own === undefined ? schedule.payload : toPayload(own, `Payload for "${id}"`)
    await this.#checkPayload(schedule.task, payload)
    const now = await this.#store.now()
    const run = manualRun(schedule, { id: `${id}+${this.#clock.newId()}`, payload, now }, given)
    // Refused before anything happens if there is no next one.
    const next = given.insteadOfNext ? occurrenceToCome(schedule, null, now) : null
    if (given.overlap === "replace") await cancelUnfinished(this.#store, schedule, given.by ?? null)
    const answer = accepted((await this.#store.enqueue([run]))[0]!)
    if (answer.outcome === "held") return { outcome: "skipped", runId: answer.runId }
    const { reason, by } = run
    if (next !== null)
      await this.#steer("trigger", id, (stored, _facts, at) =>
        skip(stored, next.scheduledFor, { reason, by }, at),
      )
    return { outcome: "created", runId: run.id }
  }

  /** The next occurrence is at that time, then on from there; those passed over are recorded. */
  async reschedule(id: string, to: When, because: Because = {}): Promise<ScheduleView> {
    const target = instantOf(to, "to", "reschedule")
    const why = whyOf(because, "reschedule")
    return this.#steer("reschedule", id, (schedule, facts, now) =>
      reschedule(schedule, target, why, facts, now),
    )
  }

  /** Leaves out one occurrence to come: the next unless said. */
  async skip(id: string, scheduledFor?: When, because: Because = {}): Promise<ScheduleView> {
    const occurrence = optionalInstantOf(scheduledFor, "scheduledFor", "skip")
    const why = whyOf(because, "skip")
    return this.#steer("skip", id, (schedule, _facts, now) => skip(schedule, occurrence, why, now))
  }

  /** Another time for one occurrence, between its neighbours; it keeps its identity. */
  async move(id: string, scheduledFor: When, to: When, because: Because = {}): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "move")
    const target = instantOf(to, "to", "move")
    const why = whyOf(because, "move")
    return this.#steer("move", id, (schedule, _facts, now) => move(schedule, occurrence, target, why, now))
  }

  /** Takes back a skip or a move. */
  async restore(id: string, scheduledFor: When): Promise<ScheduleView> {
    const occurrence = instantOf(scheduledFor, "scheduledFor", "restore")
    return this.#steer("restore", id, (schedule, _facts, now) => restore(schedule, occurrence, now))
  }

  /** The next occurrences, by the same function that fires them; with `after`, those after that time. */
  async preview(id: string, count = 10, options: { after?: When } = {}): Promise<readonly OccurrenceView[]> {
    const scheduleId = idOf(id, "preview")
    const limit = countOf(count, "preview") ?? 10
    const { after } = checked(options, PREVIEW_OPTIONS, doorOf("preview"))
    await this.#ready()
    const schedule = await requireSchedule(this.#store, scheduleId)
    return upcoming(schedule, await this.#store.now(), { count: limit, after: after ?? null })
  }

  /** Past occurrences, newest first, each with what became of it and why. */
  async occurrences(id: string, page: LedgerPage = {}): Promise<Ledger> {
    const scheduleId = idOf(id, "occurrences")
    await this.#ready()
    return readLedger(this.#store, scheduleId, page)
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
    const range = { ...planned, from: new Date(planned.from), until: new Date(planned.until) }
    const current = await planBackfill(this.#store, schedule, range)
    if (current.planId !== planned.planId) {
      throw new BelfryError(
        "BELFRY_BACKFILL_CHANGED",
        `The backfill of "${schedule.id}" was planned for ${planned.occurrences.length} occurrences; it would now be ${current.occurrences.length} or others.`,
      )
    }
    return doBackfill(this.#store, schedule, current, {
      concurrency,
      by,
      ...(onProgress !== undefined && { onProgress }),
    })
  }

  async #steer(
    method: string,
    id: string,
    decide: Parameters<typeof steerSchedule>[2],
  ): Promise<ScheduleView> {
    const scheduleId = idOf(id, method)
    await this.#ready()
    return scheduleView(await steerSchedule(this.#store, scheduleId, decide))
  }

  async #checkPayload(taskName: string, payload: unknown): Promise<void> {
    const task = this.#tasks.get(taskName)
    if (task !== undefined) await validatePayload(task, toPayload(payload, `Payload of task "${taskName}"`))
  }
}

/** Planned from the moment before, with an occurrence added at creation itself. */
function startingNow(id: string, definition: ScheduleDefinition, now: Instant): Schedule {
  const schedule = newSchedule(id, definition, now)
  const first = { scheduledFor: now, dueAt: now, reason: "Started immediately", by: null }
  return { ...schedule, coveredUntil: now - 1, nextRunAt: now, finishedAt: null, overrides: [first] }
}

/** How many are read at once where all are asked for. */
const LIST_PAGE = 500

function pageSize(limit: number): number {
  return Math.min(Math.max(1, Math.floor(limit)), BACKFILL_MAX)
}
