import type { Instant } from "./instant.ts"
import type { NewJournalEntry } from "./journal.ts"
import { upcomingAfter } from "./occurrence.ts"
import { isRange, type Missed, type NewRun, type RunChange, type RunRef } from "./run.ts"
import type { Schedule, ScheduleProgress } from "./schedule.ts"

/** What a plan needs to know beside the schedule; the store reads both in one call. */
export interface FireFacts {
  /** Unfinished runs of this schedule (backfills aside), oldest first: at most `UNFINISHED_FACTS_MAX`, the oldest. */
  readonly unfinished: readonly RunRef[]
  /** When the schedules this one depends on last succeeded. */
  readonly lastSuccessAt: Readonly<Record<string, Instant | null>>
  /**
   * Where there are records after `coveredUntil` already, oldest first: processes made them from memory while schedules
   * couldn't be read. `dueSchedules` doesn't look for them; see `isToLookUp`.
   */
  readonly recorded?: readonly Recorded[]
}

/** What one record stands for: one occurrence, or those of a range. */
export interface Recorded extends Pick<Missed, "from" | "until"> {
  /** Whether it became a run. */
  readonly isRun: boolean
}

/** How many of the occurrences in (after, until] became runs already. */
export function ranIn({ recorded = [] }: FireFacts, after: Instant | null, until: Instant): number {
  const isWithin = ({ from }: Recorded) => from > (after ?? until) && from <= until
  return recorded.filter((each) => each.isRun && isWithin(each)).length
}

/** Few enough to be read at every fire, and as many as any policy counts. */
export const UNFINISHED_FACTS_MAX = 100

export const NO_FACTS: FireFacts = { unfinished: [], lastSuccessAt: {} }

/** A guarded step of one schedule: its progress and the records that come with it, all or nothing. */
export interface FirePlan {
  readonly scheduleId: string
  readonly ifVersion: number
  /** Null deletes the schedule: it is finished and asked for it. */
  readonly progress: ScheduleProgress | null
  readonly runs: readonly NewRun[]
  /** Somebody's step, such as a pause: it is kept in the journal, and the store hints at `schedules`, so that processes read theirs again. */
  readonly entry?: NewJournalEntry
}

/** What a schedule does next: the step that a store takes, and what is sent before it. */
export interface Plan extends FirePlan {
  /** Runs that give way to the new one, cancelled by `transition` before the step. Cancelling one twice changes nothing. */
  readonly cancels: readonly RunChange[]
}

/** A run never gives way to itself: it may have been created from memory already, or by another process. */
export function cancelsOf({ cancels, runs }: Plan): readonly RunChange[] {
  return cancels.filter(({ runId }) => !runs.some(({ id }) => id === runId))
}

/** Everything up to `now` counts as settled; due at the first occurrence after it. Fires nothing. */
export function planFrom(schedule: Schedule, now: Instant): Partial<ScheduleProgress> {
  const next = upcomingAfter(schedule, now)
  return {
    coveredUntil: now,
    nextRunAt: next?.dueAt ?? null,
    finishedAt: next === null ? (schedule.finishedAt ?? now) : null,
    overrides: schedule.overrides.filter((override) => override.scheduledFor > now),
    lastError: null,
  }
}

export function planOf(
  schedule: Schedule,
  progress: Partial<ScheduleProgress>,
  rest: { runs?: readonly NewRun[]; cancels?: readonly RunChange[] } = {},
): Plan {
  return {
    scheduleId: schedule.id,
    ifVersion: schedule.version,
    progress: { ...progressOf(schedule), ...progress },
    runs: rest.runs ?? [],
    cancels: rest.cancels ?? [],
  }
}

/** The step that deletes a schedule. Its runs stay. */
export function deletionOf({ id, version }: Pick<Schedule, "id" | "version">, entry: NewJournalEntry): Plan {
  return { scheduleId: id, ifVersion: version, progress: null, runs: [], cancels: [], entry }
}

/** Two steps of one schedule as one plan. */
export function followedBy(schedule: Schedule, first: Plan, next: (schedule: Schedule) => Plan): Plan {
  if (first.progress === null) return first
  const second = next({ ...schedule, ...first.progress })
  return {
    ...second,
    ifVersion: first.ifVersion,
    runs: [...first.runs, ...second.runs],
    cancels: [...first.cancels, ...second.cancels],
  }
}

/** For a plan that follows in the same step: the runs of the first are unfinished then. */
export function factsAfter(facts: FireFacts, { runs }: FirePlan): FireFacts {
  const made = runs
    .filter(({ state }) => state === "pending")
    .map(({ id }) => ({ id, state: "pending", attempt: 0, failures: 0, lost: 0 }) as const)
  return { ...facts, unfinished: [...facts.unfinished, ...made] }
}

/**
 * Whether a plan settles more than its one occurrence in time. Only then may some of them be recorded already, and the plan
 * is made again with `facts.recorded`: that spares every ordinary fire a read. With `maxRuns`, a skip is
 * looked up, too: another process may have run that occurrence from memory.
 */
export function isToLookUp({ runs }: FirePlan, { maxRuns }: Pick<Schedule, "maxRuns">): boolean {
  const isBehind = runs.length > 1 || runs.some((run) => isRange(run) || run.reason === "missed")
  return isBehind || (maxRuns !== null && runs.some(({ state }) => state === "skipped"))
}

export function progressOf(schedule: Schedule): ScheduleProgress {
  const { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt } = schedule
  return { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt }
}

/** A schedule that asked for it goes when nothing more is to come. */
export function withoutFinished(schedule: Schedule, plan: Plan): Plan {
  const isFinished = plan.progress !== null && plan.progress.finishedAt !== null
  return isFinished && schedule.removeWhenFinished ? { ...plan, progress: null } : plan
}
