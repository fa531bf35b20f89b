import type { NewJournalEntry } from "../records/journal.ts"
import { isRange, type Missed, type NewRun, type RunChange, type RunRef } from "../run/run.ts"
import { type NewSchedule, progressOf, type Schedule, type ScheduleProgress } from "../schedule/schedule.ts"
import type { Instant } from "../time/instant.ts"
import { upcomingAfter } from "./occurrence.ts"

/** The facts that a store returns with a due schedule, read in one call. Most plans need no others. */
export interface DueFacts {
  /** The oldest unfinished runs of this schedule, oldest first, without backfills. At most `UNFINISHED_FACTS_MAX`. */
  readonly unfinished: readonly RunRef[]
  /** When the schedules this one depends on last succeeded. */
  readonly lastSuccessAt: Readonly<Record<string, Instant | null>>
}

/** The facts that a plan needs in addition to the schedule. */
export interface FireFacts extends DueFacts {
  /**
   * Records that exist after `coveredUntil`, oldest first. Processes made them from memory while schedules couldn't be read.
   * They are read only if `needsRecords`. Undefined: not read.
   */
  readonly recorded?: readonly Recorded[]
}

/** The occurrences of one record: a single one or a range. */
export interface Recorded extends Pick<Missed, "from" | "until"> {
  /** Whether the record is a run. */
  readonly isRun: boolean
}

/** How many occurrences in (after, until] already have a run. */
export function ranIn({ recorded = [] }: FireFacts, after: Instant | null, until: Instant): number {
  const isWithin = ({ from }: Recorded) => from > (after ?? until) && from <= until
  return recorded.filter((each) => each.isRun && isWithin(each)).length
}

/** Few enough to read at every fire, and as many as any policy counts. */
export const UNFINISHED_FACTS_MAX = 100

export const NO_FACTS: FireFacts = { unfinished: [], lastSuccessAt: {} }

/** A guarded change of one schedule: its progress and its records, applied entirely or not at all. */
export interface FirePlan {
  readonly scheduleId: string
  readonly ifVersion: number
  /** Null deletes the schedule: it is finished and has `removeWhenFinished`, or an operator deletes it. */
  readonly progress: ScheduleProgress | null
  readonly runs: readonly NewRun[]
  /**
   * The journal entry of an operation such as a pause. With it the store sends the hint `schedules`, so that processes
   * read their schedules again.
   */
  readonly entry?: NewJournalEntry
}

/** The next step of a schedule: the change for the store, and the cancellations to send before it. */
export interface Plan extends FirePlan {
  /** Runs that the new run replaces, cancelled by `transition` before the step. Cancelling a run twice changes nothing. */
  readonly cancels: readonly RunChange[]
}

/** The part of the plan that the store gets. */
export function firePlanOf({ cancels: _cancels, ...change }: Plan): FirePlan {
  return change
}

/** Without the plan's own runs: such a run may already exist, created from memory or by another process. */
export function cancelsOf({ cancels, runs }: Plan): readonly RunChange[] {
  return cancels.filter(({ runId }) => !runs.some(({ id }) => id === runId))
}

/** Progress that settles everything up to `now` and is due at the first occurrence after it. Fires nothing. */
export function planFrom(schedule: NewSchedule, now: Instant): Partial<ScheduleProgress> {
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

/** The plan that deletes a schedule. Its runs stay. */
export function deletionOf(
  { id, version }: Pick<Schedule, "id" | "version">,
  entry: NewJournalEntry,
): FirePlan {
  return { scheduleId: id, ifVersion: version, progress: null, runs: [], entry }
}

/** Combines two steps of one schedule into one plan. */
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

/** The facts for a second plan in the same step: the runs of the first plan count as unfinished. */
export function factsAfter(facts: FireFacts, { runs }: FirePlan): FireFacts {
  const made = runs
    .filter(({ state }) => state === "pending")
    .map(({ id }) => ({ id, state: "pending", attempt: 0, failures: 0, lost: 0 }) as const)
  return { ...facts, unfinished: [...facts.unfinished, ...made] }
}

/**
 * Whether a plan must be made again with `facts.recorded`. Only a plan that settles more than one occurrence on time can
 * conflict with existing records, so an ordinary fire needs no extra read. With `maxRuns` a skip is looked up too: another
 * process may have run that occurrence from memory.
 */
export function needsRecords({ runs }: FirePlan, { maxRuns }: Pick<Schedule, "maxRuns">): boolean {
  const isBehind = runs.length > 1 || runs.some((run) => isRange(run) || run.reason === "missed")
  return isBehind || (maxRuns !== null && runs.some(({ state }) => state === "skipped"))
}

/** Deletes a finished schedule that has `removeWhenFinished`. */
export function withoutFinished(schedule: Schedule, plan: Plan): Plan {
  const isFinished = plan.progress !== null && plan.progress.finishedAt !== null
  return isFinished && schedule.removeWhenFinished ? { ...plan, progress: null } : plan
}
