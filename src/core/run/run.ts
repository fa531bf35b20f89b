import { assert } from "../errors.ts"
import type { Instant } from "../time/instant.ts"
import type { Json } from "../values/json.ts"
import { nextDelayMs, type RetryPolicy } from "./backoff.ts"
import type { RunState } from "./run-states.ts"

/**
 * The run and its state machine. The functions below only decide: each returns a `RunChange`, which a store applies if the run
 * still has the state and the attempt that the decision was based on.
 *
 *              claim                    succeed
 *   pending ───────────▶ running ──────────────────▶ succeeded
 *      ▲  │                │ │ │        fail, lose
 *      │  │ cancel         │ │ └───────────────────▶ failed ──┐
 *      │  └──────────┐     │ │ cancel                         │
 *      │             ▼     │ ▼                                │
 *      │           cancelled ─────────────┐                   │
 *      │ fail, with attempts left; release│                   │
 *      └──────────────────────────────────┴── retry ◀─────────┘        skipped: created finished
 */
export type { RunState }

export type TriggeredBy = "schedule" | "catchup" | "manual" | "backfill" | "api"

export type SkipReason =
  | "overlap"
  | "coalesced"
  | "missed"
  | "capacity"
  | "paused"
  | "operator"
  | "dependency"

/**
 * The occurrences that one record stands for, so that a long gap doesn't create many records: those from the first to the last
 * without their own record. On a skip they are the skipped occurrences. On a run they were folded into it.
 */
export interface Missed {
  readonly from: Instant
  readonly until: Instant
  /** Counted up to 10,000, which means "at least 10,000". */
  readonly count: number
}

/** One obligation to perform a task, with its history. */
export interface Run extends RunRequest {
  readonly state: RunState
  /** Pending: when the delay ends. Running: when the lease ends. Finished: null. So one comparison finds all due runs. */
  readonly claimableAt: Instant | null
  /** Increases by one at each claim and never decreases. (run, attempt) fences every write. */
  readonly attempt: number
  /** Attempts that failed. Released and lost attempts don't count. */
  readonly failures: number
  /** Attempts that were confirmed by a worker that then stopped sending heartbeats. */
  readonly lost: number
  readonly workerId: string | null
  readonly createdAt: Instant
  /** When the newest attempt was due: the value of `claimableAt` at the claim. Null before the first attempt. */
  readonly dueAt: Instant | null
  /** When the newest attempt was claimed. Its task is called a moment later. */
  readonly startedAt: Instant | null
  readonly completedAt: Instant | null
  readonly message: string | null
  readonly details: Json
  readonly error: string | null
  readonly progress: Progress | null
  readonly attempts: readonly Attempt[]
}

/** The part of a new run that the caller decides. The store adds the times. */
export interface RunRequest {
  readonly id: string
  readonly task: string
  readonly payload: Json
  readonly priority: number
  readonly scheduleId: string | null
  readonly scheduledFor: Instant | null
  /** The run that this run is a part of. */
  readonly parentId: string | null
  readonly triggeredBy: TriggeredBy
  /** The trigger as text to search logs for, such as `schedule:<cron>`. */
  readonly trigger: string | null
  readonly missed: Missed | null
  /** At most one unfinished run holds a given live key. */
  readonly liveKey: string | null
  readonly concurrencyKey: string | null
  /** How many runs with that key may run at once. Null: no limit. */
  readonly concurrencyLimit: number | null
  /** Overrides the task's retry policy. */
  readonly retry: RetryPolicy | null
  readonly timeoutMs: number | null
  /** Why the run was skipped or cancelled. */
  readonly reason: string | null
  /** The person or program that requested or ended the run. */
  readonly by: string | null
}

/** A run to be stored: pending, or skipped as the record of an occurrence without a run. */
export interface NewRun extends RunRequest {
  readonly state: "pending" | "skipped"
  /** From the store's current time. Null: due at `notBefore` even if that has passed, so that a late fire shows as lateness. */
  readonly delayMs: number | null
  /** The run is never claimable before this instant of the store's clock. */
  readonly notBefore: Instant | null
  /** For a skip: a description of the reason. */
  readonly message: string | null
}

/** When a new run may first be claimed: after both its delay and `notBefore`, as far as they are set. */
export function firstClaimableAt(
  { delayMs, notBefore }: Pick<NewRun, "delayMs" | "notBefore">,
  now: Instant,
): Instant {
  if (delayMs === null) return notBefore ?? now
  return Math.max(now + delayMs, notBefore ?? now)
}

/** The fields of a run that decisions are based on. */
export type RunRef = Pick<Run, "id" | "state" | "attempt" | "failures" | "lost">

export interface Progress {
  /** 0 to 1. */
  readonly fraction: number
  readonly message: string | null
}

/**
 * `taken-away`: an operator released the run while its worker performed it. `given-up`: the worker ended the run without performing it, because the run must not be performed again. `unconfirmed`: no
 * heartbeat confirmed the attempt before its lease ended. The worker may never have received the claim.
 */
export type AttemptOutcome =
  | "succeeded"
  | "failed"
  | "timeout"
  | "cancelled"
  | "released"
  | "given-up"
  | "taken-away"
  | "lost"
  | "unconfirmed"

export interface Attempt {
  readonly attempt: number
  readonly workerId: string
  readonly dueAt: Instant
  readonly startedAt: Instant
  readonly endedAt: Instant
  readonly outcome: AttemptOutcome
  readonly error: string | null
}

/** One guarded change of a run. The store's clock supplies every instant; the caller sends durations. */
export interface RunChange {
  readonly runId: string
  readonly ifState: RunState
  readonly ifAttempt: number
  readonly state: RunState
  /** From the store's current time. Null: never if the run is finished, otherwise at its `dueAt`, so that it keeps its place. */
  readonly claimableInMs: number | null
  readonly failures: number
  readonly lost: number
  /** How the attempt ended, if this change ends one. */
  readonly outcome: AttemptOutcome | null
  readonly message: string | null
  readonly details: Json
  readonly error: string | null
  /** The last progress that the attempt reported. Null: the stored progress stays. */
  readonly progress: Progress | null
  readonly reason: string | null
  readonly by: string | null
}

/** When the run can be claimed after a change. Null if it is finished. */
export function claimableAfter(
  { state, claimableInMs }: Pick<RunChange, "state" | "claimableInMs">,
  dueAt: Instant | null,
  now: Instant,
): Instant | null {
  if (isFinished(state)) return null
  return claimableInMs === null ? (dueAt ?? now) : now + claimableInMs
}

/** How many attempts a run keeps. Older ones are dropped, but stay in the counts. */
export const ATTEMPTS_KEPT = 50

/** A run that has lost this many workers is failed as `lost`, because it probably caused the losses. */
export const LOST_MAX = 3

/** The `reason` of a run that failed because of lost attempts. */
const LOST = "lost"

export const UNFINISHED: readonly RunState[] = ["pending", "running"]

/** Whether a record stands for several occurrences that did not become runs. */
export function isRange({ state, missed }: Pick<RunRequest, "missed"> & { state: RunState }): boolean {
  return state === "skipped" && missed !== null
}

export function isFinished(state: RunState): boolean {
  return !UNFINISHED.includes(state)
}

export interface Output {
  readonly message: string | null
  readonly details: Json
}

export function succeed(run: RunRef, output: Output): RunChange {
  return { ...changeOf(run, "succeeded", "succeeded"), ...output }
}

export interface Failure {
  readonly outcome: "failed" | "timeout"
  readonly error: string
  /** `DoNotRetry` says never, `RetryAfter` says when; otherwise the policy decides. */
  readonly retry: "policy" | "never" | { readonly afterMs: number }
  readonly output: Output
}

/** Back to pending if attempts remain, otherwise failed. `chance` in [0, 1) spreads the retries after a common outage. */
export function fail(run: RunRef, failure: Failure, policy: RetryPolicy, chance: number): RunChange {
  const failures = run.failures + 1
  const isLast = failure.retry === "never" || failures >= policy.attempts
  const delayMs =
    typeof failure.retry === "object" ? failure.retry.afterMs : nextDelayMs(policy, failures, chance)
  return {
    ...changeOf(run, isLast ? "failed" : "pending", failure.outcome),
    claimableInMs: isLast ? null : delayMs,
    failures,
    error: failure.error,
    ...failure.output,
  }
}

/**
 * Gives a claimed run back at once, so that others need not wait for the end of its lease. The run keeps its `dueAt`, so it again
 * comes before all runs that were due after it. Why it was given back is kept with the attempt.
 */
export function release(run: RunRef, why: string): RunChange {
  return { ...changeOf(run, "pending", "released"), error: why }
}

/** An operator takes a run away from its worker, which may still be performing it. */
export function takeAway(run: RunRef, reason: string, by: string | null): RunChange {
  return { ...changeOf(run, "pending", "taken-away"), reason, by }
}

/** Ends a run that must not be performed again. */
export function giveUp(run: RunRef, error: string): RunChange {
  return { ...changeOf(run, "failed", "given-up"), error, reason: LOST }
}

/** The error of a run that has lost too many workers. */
export function poisonWords(run: LossHistory): string {
  const first = isFirstUnconfirmed(run) ? " Attempt 1 was not confirmed, and may have begun." : ""
  return `Lost: ${run.lost} attempts were confirmed by workers that then stopped sending heartbeats.${first}`
}

/** Whether a change was made by `giveUp`. */
export function isGivenUp({ outcome }: RunChange): boolean {
  return outcome === "given-up"
}

/** Whether the run has lost so many workers that it probably caused the losses. */
export function isPoison(run: LossHistory): boolean {
  return workersLostBy(run) >= LOST_MAX
}

type LossHistory = Pick<Run, "lost" | "attempts">

/**
 * A worker confirms every attempt after the first before it performs the run, so a later unconfirmed attempt did not begin and
 * doesn't count. The first attempt may have begun unconfirmed, unless its task is performed at most once, so it counts.
 */
function workersLostBy(run: LossHistory): number {
  return run.lost + (isFirstUnconfirmed(run) ? 1 : 0)
}

function isFirstUnconfirmed({ attempts }: LossHistory): boolean {
  const first = attempts[0]
  return first?.attempt === 1 && first.outcome === "unconfirmed"
}

/** Takes effect at once. A worker that performs the run is told at its next heartbeat, and can no longer finish the run. */
export function cancel(run: RunRef, why: { reason: string | null; by: string | null }): RunChange | null {
  if (isFinished(run.state)) return null
  return { ...changeOf(run, "cancelled", run.state === "running" ? "cancelled" : null), ...why }
}

/** The reason of a run that was cancelled because a manual run replaced it. */
export const REPLACED_BY_HAND = "Replaced by a run that was triggered"

/** An operator's retry of a failed or cancelled run. It is the same run, so it has the same idempotency key. */
export function retry(run: RunRef, by: string | null, reason: string | null = null): RunChange | null {
  if (run.state !== "failed" && run.state !== "cancelled") return null
  return { ...changeOf(run, "pending", null), claimableInMs: 0, failures: 0, lost: 0, reason, by }
}

/** Whether a change that the store called stale was already applied: the response to the first call was lost. */
export function isAlreadyMade(change: RunChange, now: { state: RunState | null; attempt: number }): boolean {
  return now.state === change.state && now.attempt === change.ifAttempt
}

function changeOf(run: RunRef, state: RunState, outcome: AttemptOutcome | null): RunChange {
  assert(outcome === null || run.state === "running", "only a running run has an attempt to end")
  return {
    runId: run.id,
    ifState: run.state,
    ifAttempt: run.attempt,
    state,
    claimableInMs: null,
    failures: run.failures,
    lost: run.lost,
    outcome,
    message: null,
    details: null,
    error: null,
    progress: null,
    reason: null,
    by: null,
  }
}
