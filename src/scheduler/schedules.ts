import { defineSchedule, newSchedule } from "../core/definition.ts"
import { BelfryError } from "../core/errors.ts"
import { type Instant, parseInstant } from "../core/instant.ts"
import { toPayload } from "../core/json.ts"
import { describeTriggers } from "../core/new-run.ts"
import type { ScheduleOptions, When } from "../core/options.ts"
import type { Schedule, ScheduleDefinition } from "../core/schedule.ts"
import { move, occurrenceToCome, pause, reschedule, restore, resume, skip, type Why } from "../core/steer.ts"
import { storable } from "../core/thrown.ts"
import type { Clock } from "../engine/clock.ts"
import { type AnyTask, type PayloadOption, type Task, validatePayload } from "../engine/task.ts"
import { accepted } from "../store/refused.ts"
import type { Store } from "../store/store.ts"
import { BACKFILL_MAX, type BackfillPlan, type BackfillRange, doBackfill, planBackfill } from "./backfill.ts"
import { editSchedule, requireSchedule, steerSchedule } from "./change-schedule.ts"
import { type Ledger, type LedgerPage, readLedger } from "./ledger.ts"
import { type OccurrenceView, upcoming } from "./preview.ts"
import { changedOptions, type ScheduleChanges } from "./schedule-options.ts"
import { cancelUnfinished, manualRun, type TriggerNowOptions } from "./trigger.ts"
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
  readonly #ready: () => Promise<void>

  constructor(about: {
    store: Store
    clock: Clock
    tasks: ReadonlyMap<string, AnyTask>
    ready: () => Promise<void>
  }) {
    this.#store = about.store
    this.#clock = about.clock
    this.#tasks = about.tasks
    this.#ready = about.ready
  }

  /** Fails if the id is taken. Nothing fires before the first occurrence, unless `startImmediately`. */
  async create<Input>(id: string, options: CreateOptions<Input>): Promise<ScheduleView> {
    await this.#ready()
    const { task, payload, startImmediately = false, ...rest } = options as CreateOptions<unknown>
    const name = typeof task === "string" ? task : task.name
    await this.#checkPayload(name, payload)
    const now = await this.#store.now()
    const definition = defineSchedule(rest, { id, task: name, payload, owner: null, release: 0, now })
    const schedule = startImmediately ? startingNow(id, definition, now) : newSchedule(id, definition, now)
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
    await this.#ready()
    const [schedule] = await this.#store.findSchedules({ ids: [id] }, { afterId: null, limit: 1 })
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
    await this.#ready()
    const edited = await editSchedule(this.#store, id, {
      ifRevision: based.ifRevision,
      define: async (stored) => {
        const payload = changes.payload === undefined ? stored.payload : changes.payload
        await this.#checkPayload(stored.task, payload)
        const { task, owner, release } = stored
        const now = await this.#store.now()
        return defineSchedule(changedOptions(stored, changes), { id, task, payload, owner, release, now })
      },
    })
    return scheduleView(edited)
  }

  /** True if it was there. Its runs stay. */
  async delete(id: string): Promise<boolean> {
    await this.#ready()
    while (true) {
      const [schedule] = await this.#store.findSchedules({ ids: [id] }, { afterId: null, limit: 1 })
      if (schedule === undefined) return false
      if ((await this.#store.deleteSchedule(id, schedule.version)).outcome === "done") return true
    }
  }

  /** Drops occurrences until it is resumed, or until the time given; the interval is recorded. */
  pause(id: string, options: Because & { until?: When } = {}): Promise<ScheduleView> {
    const until = options.until === undefined ? null : parseInstant(options.until, "end of the pause")
    return this.#steer(id, (schedule, facts, now) =>
      pause(schedule, { ...whyOf(options), until }, facts, now),
    )
  }

  resume(id: string): Promise<ScheduleView> {
    return this.#steer(id, resume)
  }

  /** One run, now; the next occurrence is untouched. */
  async trigger(id: string, options: TriggerNowOptions = {}): Promise<TriggerNowResult> {
    await this.#ready()
    const schedule = await requireSchedule(this.#store, id)
    const own = options.payload
    const payload = own === undefined ? schedule.payload : toPayload(own, `Payload for "${id}"`)
    await this.#checkPayload(schedule.task, payload)
    const now = await this.#store.now()
    const run = manualRun(schedule, { id: `${id}+${this.#clock.newId()}`, payload, now }, options)
    // Refused before anything happens if there is no next one.
    const next = options.insteadOfNext ? occurrenceToCome(schedule, null, now) : null
    if (options.overlap === "replace") await cancelUnfinished(this.#store, schedule, options)
    const answer = accepted((await this.#store.enqueue([run]))[0]!)
    if (answer.outcome === "held") return { outcome: "skipped", runId: answer.runId }
    if (next !== null) await this.skip(id, next.scheduledFor, options)
    return { outcome: "created", runId: run.id }
  }

  /** The next occurrence is at that time, then on from there; those passed over are recorded. */
  reschedule(id: string, to: When, because: Because = {}): Promise<ScheduleView> {
    return this.#steer(id, (schedule, facts, now) =>
      reschedule(schedule, parseInstant(to, "new time"), whyOf(because), facts, now),
    )
  }

  /** Leaves out one occurrence to come: the next unless said. */
  skip(id: string, scheduledFor?: When, because: Because = {}): Promise<ScheduleView> {
    return this.#steer(id, (schedule, _facts, now) =>
      skip(schedule, instantOf(scheduledFor), whyOf(because), now),
    )
  }

  /** Another time for one occurrence, between its neighbours; it keeps its identity. */
  move(id: string, scheduledFor: When, to: When, because: Because = {}): Promise<ScheduleView> {
    const target = parseInstant(to, "new time")
    return this.#steer(id, (schedule, _facts, now) =>
      move(schedule, instantOf(scheduledFor), target, whyOf(because), now),
    )
  }

  /** Takes back a skip or a move. */
  restore(id: string, scheduledFor: When): Promise<ScheduleView> {
    return this.#steer(id, (schedule, _facts, now) =>
      restore(schedule, parseInstant(scheduledFor, "occurrence"), now),
    )
  }

  /** The next occurrences, by the same function that fires them. */
  async preview(id: string, count = 10): Promise<readonly OccurrenceView[]> {
    await this.#ready()
    const schedule = await requireSchedule(this.#store, id)
    return upcoming(schedule, await this.#store.now(), pageSize(count))
  }

  /** Past occurrences, newest first, each with what became of it and why. */
  async occurrences(id: string, page: LedgerPage = {}): Promise<Ledger> {
    await this.#ready()
    return readLedger(this.#store, id, page)
  }

  /** What a backfill would do. Changes nothing. */
  async planBackfill(id: string, options: BackfillOptions): Promise<BackfillPlan> {
    await this.#ready()
    const { which = "missing", name = "backfill" } = options
    const from = new Date(parseInstant(options.from, "start of the backfill"))
    const until = new Date(parseInstant(options.until, "end of the backfill"))
    return planBackfill(this.#store, await requireSchedule(this.#store, id), { from, until, which, name })
  }

  /** Does what was planned, or refuses if it would now be something else. Returns the ids of the runs created. */
  async backfill(
    plan: BackfillPlan,
    options: { concurrency?: number; by?: string; onProgress?: (done: number, total: number) => void } = {},
  ): Promise<readonly string[]> {
    await this.#ready()
    const schedule = await requireSchedule(this.#store, plan.scheduleId)
    const current = await planBackfill(this.#store, schedule, plan)
    if (current.planId !== plan.planId) {
      throw new BelfryError(
        "BELFRY_BACKFILL_CHANGED",
        `The backfill of "${plan.scheduleId}" was planned for ${plan.occurrences.length} occurrences; it would now be ${current.occurrences.length} or others.`,
      )
    }
    const { concurrency = 1, by = null } = options
    return doBackfill(this.#store, schedule, plan, { ...options, concurrency, by })
  }

  async #steer(id: string, decide: Parameters<typeof steerSchedule>[2]): Promise<ScheduleView> {
    await this.#ready()
    return scheduleView(await steerSchedule(this.#store, id, decide))
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

function whyOf({ reason, by }: Because): Why {
  return { reason: textOf(reason), by: textOf(by) }
}

/** What people type: long or odd, it is kept in a form that every store has. */
function textOf(text: string | undefined): string | null {
  return text === undefined ? null : storable(text, WHY_MAX_BYTES)
}

/** How many are read at once where all are asked for. */
const LIST_PAGE = 500

const WHY_MAX_BYTES = 8_192

function instantOf(when: When | undefined): Instant | null {
  return when === undefined ? null : parseInstant(when, "occurrence")
}

function pageSize(limit: number): number {
  return Math.min(Math.max(1, Math.floor(limit)), BACKFILL_MAX)
}
