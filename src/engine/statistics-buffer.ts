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
} from "../core/records/statistics.ts"
import type { Clock } from "../runtime/clock.ts"
import type { StatisticsBatch } from "../store/store.ts"
import type { RunEventBody } from "./events.ts"

/** Length of a step. All counts of a step go into one bucket. */
const STEP_MS = 60_000

/** Limit while the store is unreachable: after this many steps, the newest takes all further counts. */
const STEPS_MAX = 60

/**
 * Counts the events of this process until a heartbeat has handed them over. If the process is killed before that, the counts are
 * missing from the statistics, and only there.
 */
export class StatisticsBuffer {
  readonly #clock: Clock
  #steps: Slice[] = []
  /** The batch under way. It isn't changed until the store has added it, so it can be sent again. */
  #batch: { readonly number: number; readonly steps: readonly Slice[] } | null = null
  #lastNumber = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(run: { readonly task: string; readonly scheduleId: string | null }, what: RunEventBody): void {
    const cell = cellOf(this.#step(), run)
    if (what.type === "started") cell.measure("lateness", what.latenessMs)
    else if (what.type !== "superseded") cell.count(OUTCOMES[what.type])
    if ("durationMs" in what) cell.measure("duration", what.durationMs)
  }

  /** There are counts that the store hasn't confirmed. */
  get hasUnstored(): boolean {
    return this.#steps.length > 0 || this.isUnderWay
  }

  get isUnderWay(): boolean {
    return this.#batch !== null
  }

  /** The batch to hand over; the same one until the store has added it. Null: nothing to hand over. */
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

  #step(): Slice {
    const now = this.#clock.monotonic()
    const newest = this.#steps.at(-1)
    if (newest !== undefined && (now - newest.beganAt < STEP_MS || this.#steps.length >= STEPS_MAX))
      return newest
    const step: Slice = { beganAt: now, cells: new Map() }
    this.#steps.push(step)
    return step
  }
}

const OUTCOMES: Readonly<Record<Exclude<RunEventBody["type"], "started" | "superseded">, Outcome>> = {
  created: "created",
  skipped: "skipped",
  succeeded: "succeeded",
  retrying: "retried",
  failed: "failed",
  lost: "lost",
  released: "released",
  cancelled: "cancelled",
}

interface Slice {
  /** By the monotonic clock. */
  readonly beganAt: number
  /** By task and schedule. */
  readonly cells: Map<string, Cell>
}

class Cell {
  readonly task: string
  readonly scheduleId: string | null
  readonly #outcomes = new Map<Outcome, number>()
  readonly #measures = { lateness: new Histogram(), duration: new Histogram() }

  constructor(task: string, scheduleId: string | null) {
    this.task = task
    this.scheduleId = scheduleId
  }

  count(outcome: Outcome): void {
    this.#outcomes.set(outcome, (this.#outcomes.get(outcome) ?? 0) + 1)
  }

  measure(measure: Measure, ms: number): void {
    this.#measures[measure].add(Math.round(ms))
  }

  /** The names are made here and not for each event: a busy process has tens of thousands of events a second. */
  *counters(): Iterable<readonly [name: string, count: number]> {
    yield* this.#outcomes
    for (const measure of ["lateness", "duration"] as const) {
      const { counts, sum } = this.#measures[measure]
      for (const [bound, count] of counts) yield [countUpTo(measure, bound), count]
      if (counts.size > 0) yield [sumOf(measure), sum]
    }
  }
}

class Histogram {
  readonly counts = new Map<number, number>()
  sum = 0

  add(value: number): void {
    const bound = boundOf(value)
    this.counts.set(bound, (this.counts.get(bound) ?? 0) + 1)
    this.sum += value
  }
}

function cellOf({ cells }: Slice, { task, scheduleId }: { task: string; scheduleId: string | null }): Cell {
  const key = scheduleId === null ? task : `${task} ${scheduleId}`
  let cell = cells.get(key)
  if (cell === undefined) {
    cell = new Cell(task, scheduleId)
    cells.set(key, cell)
  }
  return cell
}

function additionsOf({ cells }: Slice, agoMs: number): readonly StatisticsAddition[] {
  const sums = new Map<string, Map<string, number>>()
  for (const cell of cells.values()) {
    const { task, scheduleId } = cell
    const subjects = [
      ALL_RUNS,
      subjectOfTask(task),
      ...(scheduleId === null ? [] : [subjectOfSchedule(scheduleId)]),
    ]
    for (const subject of subjects) {
      const sum = sums.get(subject) ?? new Map<string, number>()
      sums.set(subject, sum)
      for (const [name, count] of cell.counters()) sum.set(name, (sum.get(name) ?? 0) + count)
    }
  }
  return [...sums].map(([subject, sum]) => ({
    subject,
    spans: subject.startsWith("schedule:") ? SCHEDULE_SPANS : SPANS,
    agoMs: Math.round(agoMs),
    counters: Object.fromEntries(sum) as Counters,
  }))
}
