import fc from "fast-check"
import { assert, test } from "vitest"
import { assertProperty } from "../../../test/support/properties.ts"
import { applied, aSchedule, MADE_AT, shown } from "../../../test/support/records.ts"
import { BelfryError } from "../errors.ts"
import type { ScheduleOptions } from "../options/options.ts"
import { isRange, type NewRun } from "../run/run.ts"
import { isSpent, type OccurrenceOverride, type Schedule, timetableOf } from "../schedule/schedule.ts"
import { nextInTimetable } from "../schedule/timetable.ts"
import { HOUR, type Instant, MINUTE, SECOND } from "../time/instant.ts"
import { MISSED_COUNT_MAX } from "./catch-up.ts"
import { planFire, planSettle } from "./fire.ts"
import { newRunOf } from "./new-run.ts"
import { type Occurrence, occurrenceAfter } from "./occurrence.ts"
import { type FireFacts, NO_FACTS, type Plan, type Recorded } from "./plan.ts"
import { move, pause, replan, reschedule, restore, resume, skip } from "./steer.ts"

// This holds for all policies, for late plans, and for any steps of operators in between.
test("every occurrence is settled by exactly one record", () => {
  assertProperty(
    fc.property(anyOptions, fc.array(anyStep, { maxLength: 30 }), (options, steps) => {
      const history = new History(aSchedule(options))

      for (const step of steps) history.perform(step)

      history.checkLedger()
    }),
    { numRuns: 1_500 },
  )
})

const anyWhen: fc.Arbitrary<ScheduleOptions> = fc.oneof(
  fc
    .constantFrom("*/10 * * * *", "0 * * * *", "30 2 * * *", "*/20 * * * * *", "@every 7m", "H * * * *")
    .map((cron) => ({ cron })),
  fc.integer({ min: 20, max: 7_200 }).map((seconds) => ({ every: seconds * SECOND })),
  fc.integer({ min: 1, max: 20 }).map((hours) => ({ every: HOUR, anchor: MADE_AT + hours * 10 * MINUTE })),
  fc.integer({ min: 1, max: 40 }).map((hours) => ({ at: MADE_AT + hours * HOUR })),
  fc.constant({ triggers: [{ cron: "15 * * * *" }, { every: "25m" as const }, { at: MADE_AT + 3 * HOUR }] }),
)

const anyOptions = fc
  .tuple(
    anyWhen,
    fc.record(
      {
        timezone: fc.constantFrom("UTC", "America/New_York"),
        jitter: fc.constantFrom(0, 90 * SECOND, 2 * HOUR),
        maxRuns: fc.integer({ min: 1, max: 9 }),
        startsAt: fc.integer({ min: 0, max: 300 }).map((minutes) => MADE_AT + minutes * MINUTE),
        endsAt: fc.integer({ min: 301, max: 3_000 }).map((minutes) => MADE_AT + minutes * MINUTE),
      },
      { requiredKeys: [] },
    ),
    fc.constantFrom<Partial<ScheduleOptions>>(
      {},
      { catchUp: "none" },
      { catchUp: { policy: "none", grace: "20m" } },
      { catchUp: { policy: "all", window: "2h", limit: 3 }, overlap: "allow" },
      { catchUp: { policy: "all", limit: 50 }, overlap: { policy: "queue", limit: 4 } },
      { overlap: "queue" },
      { overlap: "replace" },
      { overlap: "allow", dependsOn: [{ schedule: "import", within: "1h" }] },
    ),
  )
  .map(([when, limits, policies]): ScheduleOptions => ({ ...when, ...limits, ...policies }))

type Step = { readonly kind: string; readonly size: number; readonly unfinished: number }

const anyStep: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 5, arbitrary: fc.constant("wait") },
    { weight: 3, arbitrary: fc.constant("punctual") },
    { weight: 2, arbitrary: fc.constant("fromMemory") },
    {
      weight: 4,
      arbitrary: fc.constantFrom(
        "pause",
        "pauseFor",
        "resume",
        "skip",
        "move",
        "restore",
        "reschedule",
        "edit",
      ),
    },
  ),
  size: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.integer({ min: 1, max: 1_200 })),
  unfinished: fc.constantFrom(0, 0, 0, 1, 2),
})

/** One schedule through time, with every record that it made. */
class History {
  readonly records: NewRun[] = []
  readonly added = new Set<Instant>()
  now = MADE_AT
  schedule: Schedule

  constructor(schedule: Schedule) {
    this.schedule = schedule
  }

  perform(step: Step): void {
    const before = this.now
    if (step.kind === "punctual" && this.schedule.nextRunAt !== null) {
      this.now = Math.max(before, this.schedule.nextRunAt)
    } else this.now = before + step.size * MINUTE
    if (step.kind === "fromMemory") {
      this.fireFromMemory(before, step)
      return
    }
    if (step.kind !== "wait" && step.kind !== "punctual") {
      this.steer(step)
      if (step.size % 2 === 0) return
    }
    this.fire(step)
  }

  /** A process that couldn't read schedules makes runs of some occurrences. The stored schedule isn't updated. */
  fireFromMemory(since: Instant, { size }: Step): void {
    const { schedule } = this
    if (schedule.paused !== null || isSpent(schedule)) return
    const after = Math.max(since, schedule.coveredUntil!)
    let occurrence = occurrenceAfter(schedule, after)
    for (let index = 0; occurrence !== null && occurrence.dueAt <= this.now; index++) {
      const isMade = index % 7 < size % 7 && !occurrence.isSkipped
      if (isMade) this.record(newRunOf(schedule, occurrence, { isLate: false, missed: null }))
      occurrence = occurrenceAfter(schedule, occurrence.scheduledFor)
    }
  }

  get recorded(): readonly Recorded[] {
    return this.records
      .filter((run) => run.scheduledFor! > this.schedule.coveredUntil!)
      .map((run) => ({ from: run.scheduledFor!, until: run.scheduledFor!, isRun: run.state !== "skipped" }))
      .sort((a, b) => a.from - b.from)
  }

  /** Like a store: a run with an existing id is not changed. */
  record(run: NewRun): void {
    if (!this.records.some(({ id }) => id === run.id)) this.records.push(run)
  }

  fire(step: Step): void {
    const unfinished = Array.from({ length: step.unfinished }, (_, index) => ({
      id: `other-${index}`,
      state: "pending" as const,
      attempt: 0,
      failures: 0,
      lost: 0,
    }))
    const lastSuccessAt = { import: this.now - step.size * MINUTE }
    const facts: FireFacts = { unfinished, lastSuccessAt, recorded: this.recorded }

    const plan = planFire(this.schedule, facts, this.now)
    for (const run of plan.runs) assert.isAtMost(run.notBefore ?? 0, this.now, `${run.id} is early`)
    this.apply(plan)

    const { nextRunAt, lastError } = this.schedule
    assert.isNull(lastError)
    assert.isTrue(
      nextRunAt === null || nextRunAt > this.now,
      `next ${shown(nextRunAt)} at ${shown(this.now)}`,
    )
  }

  steer(step: Step): void {
    try {
      if (step.kind === "edit") this.edit()
      else this.apply(this.steered(step))
    } catch (error) {
      if (!(error instanceof BelfryError && error.code === "BELFRY_OCCURRENCE_INVALID")) throw error
    }
  }

  steered({ kind, size }: Step): Plan | null {
    const { schedule, now } = this
    const facts = { ...NO_FACTS, recorded: this.recorded }
    const why = { reason: null, by: null }
    const target = this.upcoming(size % 3)?.scheduledFor ?? null
    if (kind === "pause") return pause(schedule, { ...why, until: null }, facts, now)
    if (kind === "pauseFor") return pause(schedule, { ...why, until: now + size * 2 * MINUTE }, facts, now)
    if (kind === "resume") return resume(schedule, facts, now)
    if (kind === "skip") return skip(schedule, target, why, now)
    if (kind === "move") return move(schedule, target, (target ?? now) + (size - 30) * 20 * SECOND, why, now)
    if (kind === "restore") return this.restored(schedule.overrides[size % schedule.overrides.length])
    const to = now + (size % 200) * MINUTE + (size % 2)
    const plan = reschedule(schedule, to, why, facts, now)
    this.added.add(to)
    return plan
  }

  restored(override: OccurrenceOverride | undefined): Plan | null {
    if (override === undefined) return null
    const plan = restore(
      this.schedule,
      override.scheduledFor,
      { ...NO_FACTS, recorded: this.recorded },
      this.now,
    )
    if (override.scheduledFor > this.schedule.coveredUntil!) this.added.delete(override.scheduledFor)
    return plan
  }

  edit(): void {
    if (this.schedule.coveredUntil! > this.now) return
    this.apply(planSettle(this.schedule, { ...NO_FACTS, recorded: this.recorded }, this.now))
    this.schedule = replan({ ...this.schedule, description: "edited" }, this.now)
  }

  upcoming(index: number): Occurrence | null {
    let found = occurrenceAfter(this.schedule, this.schedule.coveredUntil!)
    for (let left = index; left > 0 && found !== null; left--) {
      found = occurrenceAfter(this.schedule, found.scheduledFor)
    }
    return found
  }

  apply(plan: Plan | null): void {
    if (plan === null) return
    const covered = this.schedule.coveredUntil!
    for (const run of plan.runs) this.record(run)
    this.checkPause(plan)
    this.schedule = applied(this.schedule, plan)
    assert.isAtLeast(this.schedule.coveredUntil!, covered, "coveredUntil never falls")
  }

  /** Occurrences that were due before a pause began must not be recorded as dropped by the pause. */
  checkPause({ runs, progress }: Plan): void {
    const pausedAt = (this.schedule.paused ?? progress?.paused)?.at ?? this.now
    for (const { reason, missed, scheduledFor } of runs.filter((run) => run.reason === "paused")) {
      const first = occurrenceAfter(this.schedule, (missed?.from ?? scheduledFor!) - 1)!
      assert.isAbove(first.dueAt, pausedAt, `${reason} since ${shown(pausedAt)}`)
    }
  }

  checkLedger(): void {
    const counts = new Map<NewRun, number>()
    for (const occurrence of this.expected()) {
      const covering = this.covering(occurrence)
      assert.equal(covering.length, 1, `${shown(occurrence)} has ${covering.length} records`)
      counts.set(covering[0]!, (counts.get(covering[0]!) ?? 0) + 1)
    }
    for (const run of this.records.filter((record) => record.scheduledFor! <= this.end())) {
      const count = counts.get(run) ?? 0
      const stated = run.state === "skipped" ? (run.missed?.count ?? 1) : 1
      // The count of a range stops at MISSED_COUNT_MAX.
      const isCounted = stated === MISSED_COUNT_MAX ? count >= stated : count === stated
      assert.isTrue(isCounted, `${run.id} stands for ${count} occurrences, but states ${stated}`)
    }
    const runs = this.records.filter((run) => run.state === "pending")
    assert.isAtMost(this.schedule.firedCount, runs.length)
  }

  /** A range stands only for the occurrences within it that have no record of their own. */
  covering(occurrence: Instant): readonly NewRun[] {
    const records = this.records.filter((run) => covers(run, occurrence))
    const own = records.filter((run) => !isRange(run))
    return own.length > 0 ? own : records
  }

  /**
   * The instant up to which occurrences need a record: `coveredUntil`, or the last run of a schedule that reached maxRuns. An
   * occurrence skipped by an operator after the last run needs none.
   */
  end(): Instant {
    const lastRun = this.records.findLast((run) => run.state === "pending")
    return isSpent(this.schedule) ? lastRun!.scheduledFor! : this.schedule.coveredUntil!
  }

  /** The occurrences of the timetable, computed without plans, and the added ones. */
  expected(): readonly Instant[] {
    const timetable = timetableOf(this.schedule)
    const until = this.end()
    const found = new Set([...this.added].filter((instant) => instant <= until))
    let next = nextInTimetable(timetable, MADE_AT)
    for (; next !== null && next <= until; next = nextInTimetable(timetable, next)) found.add(next)
    return [...found].sort((a, b) => a - b)
  }
}

function covers(run: NewRun, occurrence: Instant): boolean {
  const range = run.state === "skipped" ? run.missed : null
  return range === null
    ? run.scheduledFor === occurrence
    : range.from <= occurrence && occurrence <= range.until
}
