import {
  ALL_RUNS,
  boundOf,
  type Counters,
  countUpTo,
  type Measure,
  type Outcome,
  SCHEDULE_SPANS,
  SPANS,
  type StatisticsAddition,
  subjectOfSchedule,
  subjectOfTask,
  sumOf,
} from "../core/statistics.ts"
import type { Clock } from "../runtime/clock.ts"
import type { StatisticsBatch } from "../store/store.ts"
import type { RunHappening } from "./events.ts"

/** What is counted in one step stays together for this long, and goes into one bucket. */
const STEP_MS = 60_000

/** While the store is away: beyond so many steps the newest has all that follows. */
const STEPS_MAX = 60

/**
 * Adds up what this process did, until a heartbeat has handed it over. What is lost when a process is killed is missing in the
 * statistics, and only there.
 */
export class StatisticsBuffer {
  readonly #clock: Clock
  #steps: Step[] = []
  /** What is under way, until the store has it: sent again, it is the same. */
  #batch: { readonly number: number; readonly steps: readonly Step[] } | null = null
  #lastNumber = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(run: { readonly task: string; readonly scheduleId: string | null }, what: RunHappening): void {
    const cell = cellOf(this.#step(), run)
    if (what.type === "started") cell.measure("lateness", what.latenessMs)
    else if (what.type !== "refused") cell.count(OUTCOMES[what.type])
    if ("durationMs" in what) cell.measure("duration", what.durationMs)
  }

  /** Something was counted and isn't in yet. */
  get isOwed(): boolean {
    return this.#steps.length > 0 || this.isUnderWay
  }

  get isUnderWay(): boolean {
    return this.#batch !== null
  }

  /** The batch to hand over; null if there is nothing. The same one again, until it is in. */
  next(): StatisticsBatch | null {
    if (this.#batch === null) {
      if (this.#steps.length === 0) return null
      this.#batch = { number: ++this.#lastNumber, steps: this.#steps }
      this.#steps = []
    }
    const now = this.#clock.monotonic()
    const { number, steps } = this.#batch
    return { number, additions: steps.flatMap((step) => additionsOf(step, now - step.beganAt)) }
  }

  onHandedOver(): void {
    this.#batch = null
  }

  #step(): Step {
    const now = this.#clock.monotonic()
    const newest = this.#steps.at(-1)
    if (newest !== undefined && (now - newest.beganAt < STEP_MS || this.#steps.length >= STEPS_MAX))
      return newest
    const step: Step = { beganAt: now, cells: new Map() }
    this.#steps.push(step)
    return step
  }
}

const OUTCOMES: Readonly<Record<Exclude<RunHappening["type"], "started" | "refused">, Outcome>> = {
  created: "created",
  skipped: "skipped",
  succeeded: "succeeded",
  retrying: "retried",
  failed: "failed",
  lost: "lost",
  released: "released",
  cancelled: "cancelled",
}

interface Step {
  /** By the monotonic clock. */
  readonly beganAt: number
  /** By task and schedule. */
  readonly cells: Map<string, Cell>
}

class Cell {
  readonly task: string
  readonly scheduleId: string | null
  readonly counters = new Map<string, number>()

  constructor(task: string, scheduleId: string | null) {
    this.task = task
    this.scheduleId = scheduleId
  }

  count(name: string, by = 1): void {
    this.counters.set(name, (this.counters.get(name) ?? 0) + by)
  }

  measure(measure: Measure, ms: number): void {
    const whole = Math.round(ms)
    this.count(countUpTo(measure, boundOf(whole)))
    this.count(sumOf(measure), whole)
  }
}

function cellOf({ cells }: Step, { task, scheduleId }: { task: string; scheduleId: string | null }): Cell {
  const key = scheduleId === null ? task : `${task} ${scheduleId}`
  let cell = cells.get(key)
  if (cell === undefined) {
    cell = new Cell(task, scheduleId)
    cells.set(key, cell)
  }
  return cell
}

function additionsOf({ cells }: Step, agoMs: number): readonly StatisticsAddition[] {
  const sums = new Map<string, Map<string, number>>()
  for (const { task, scheduleId, counters } of cells.values()) {
    const subjects = [
      ALL_RUNS,
      subjectOfTask(task),
      ...(scheduleId === null ? [] : [subjectOfSchedule(scheduleId)]),
    ]
    for (const subject of subjects) {
      const sum = sums.get(subject) ?? new Map<string, number>()
      sums.set(subject, sum)
      for (const [name, count] of counters) sum.set(name, (sum.get(name) ?? 0) + count)
    }
  }
  return [...sums].map(([subject, sum]) => ({
    subject,
    spans: subject.startsWith("schedule:") ? SCHEDULE_SPANS : SPANS,
    agoMs: Math.round(agoMs),
    counters: Object.fromEntries(sum) as Counters,
  }))
}
