import { nextDelayMs, type RetryPolicy } from "./backoff.ts"
import { assert } from "./errors.ts"
import type { Instant } from "./instant.ts"
import type { Json } from "./json.ts"
import type { RunState } from "./run-states.ts"

/**
 * A run's whole life is here: what it is, and every step it may take. The functions below only decide; each returns a
 * `RunChange`, which a store applies if the run is still in the state and attempt it was decided on.
 *
 *              claim                    succeed
 *   pending ───────────▶ running ──────────────────▶ succeeded
 *      ▲  │                │ │ │        fail, lose
 *      │  │ cancel         │ │ └───────────────────▶ failed ──┐
 *      │  └──────────┐     │ │ cancel                         │
 *      │             ▼     │ ▼                                │
 *      │           cancelled ─────────────┐                   │
 *      │ fail, with attempts left; release│                   │
 *      └──────────────────────────────────┴── retry ◀─────────┘        skipped: born finished
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
 * Occurrences that one record stands for, so that a long gap is never a flood: those from the first to the last that have no
 * record of their own. On a skip they are the record's own, on a run they are folded into it.
 */
export interface Missed {
  readonly from: Instant
  readonly until: Instant
  /** Counted up to 10,000; that number means "at least". */
  readonly count: number
}

/** One obligation to perform a task, with its whole story. */
export interface Run extends RunRequest {
  readonly state: RunState
  /** Pending: when the delay ends. Running: when the lease ends. Finished: null. What is due is one comparison. */
  readonly claimableAt: Instant | null
  /** Rises by one at each claim and never falls: (run, attempt) fences every write. */
  readonly attempt: number
  /** Attempts that failed; those given back or lost with their worker don't count. */
  readonly failures: number
  /** Attempts whose worker fell silent after it had confirmed that it began. */
  readonly lost: number
  readonly workerId: string | null
  readonly createdAt: Instant
  /** When the newest attempt was due: what `claimableAt` was when a worker took it. Null before the first. */
  readonly dueAt: Instant | null
  /** When the newest attempt began. */
  readonly startedAt: Instant | null
  readonly completedAt: Instant | null
  readonly message: string | null
  readonly details: Json
  readonly error: string | null
  readonly progress: Progress | null
  readonly attempts: readonly Attempt[]
}

/** What the caller decides about a new run; the store adds the times. */
export interface RunRequest {
  readonly id: string
  readonly task: string
  readonly payload: Json
  readonly priority: number
  readonly scheduleId: string | null
  readonly scheduledFor: Instant | null
  /** The run that this one is a part of. */
  readonly parentId: string | null
  readonly triggeredBy: TriggeredBy
  /** `schedule:<cron>` and the like: which trigger, in words that a log can be searched for. */
  readonly trigger: string | null
  readonly missed: Missed | null
  /** At most one unfinished run holds a given live key. */
  readonly liveKey: string | null
  readonly concurrencyKey: string | null
  /** How many runs with that key may be running at once; null is any number. */
  readonly concurrencyLimit: number | null
  /** Overrides the task's own. */
  readonly retry: RetryPolicy | null
  readonly timeoutMs: number | null
  /** Why it was skipped or cancelled. */
  readonly reason: string | null
  /** Who asked for it, or ended it. */
  readonly by: string | null
}

/** A run about to be stored: waiting, or born finished as the record of a skip. */
export interface NewRun extends RunRequest {
  readonly state: "pending" | "skipped"
  /** From the store's now. Null: due at `notBefore`, also if that has passed, so that a late fire shows as lateness. */
  readonly delayMs: number | null
  /** Never claimable before this instant of the store's clock, whoever's clock made the run. */
  readonly notBefore: Instant | null
  /** For a skip: the reason in words. */
  readonly message: string | null
}

/** When a new run may first be claimed: when its delay has ended and `notBefore` has come, as far as it has either. */
export function firstClaimableAt(
  { delayMs, notBefore }: Pick<NewRun, "delayMs" | "notBefore">,
  now: Instant,
): Instant {
  if (delayMs === null) return notBefore ?? now
  return Math.max(now + delayMs, notBefore ?? now)
}

/** As much of a run as a step is decided on. */
export type RunRef = Pick<Run, "id" | "state" | "attempt" | "failures" | "lost">

export interface Progress {
  /** 0 to 1. */
  readonly fraction: number
  readonly message: string | null
}

/** `unconfirmed`: the worker fell silent before it confirmed that it had begun; the claim's answer may never have reached it. */
export type AttemptOutcome =
  | "succeeded"
  | "failed"
  | "timeout"
  | "cancelled"
  | "released"
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

/** One guarded step. The store's clock supplies every instant; the caller sends durations. */
export interface RunChange {
  readonly runId: string
  readonly ifState: RunState
  readonly ifAttempt: number
  readonly state: RunState
  /** From the store's now. Null: never, if the run is finished; else at its `dueAt`, so that it keeps its place. */
  readonly claimableInMs: number | null
  readonly failures: number
  readonly lost: number
  /** How the attempt ended, if this step ends one. */
  readonly outcome: AttemptOutcome | null
  readonly message: string | null
  readonly details: Json
  readonly error: string | null
  /** The last that the attempt reported; null leaves what is stored. */
  readonly progress: Progress | null
  readonly reason: string | null
  readonly by: string | null
}

/** When the run that a change makes can be claimed; null if it is finished. */
export function claimableAfter(
  { state, claimableInMs }: Pick<RunChange, "state" | "claimableInMs">,
  dueAt: Instant | null,
  now: Instant,
): Instant | null {
  if (isFinished(state)) return null
  return claimableInMs === null ? (dueAt ?? now) : now + claimableInMs
}

/** The attempts a run's story keeps; older ones are forgotten, their counts are not. */
export const ATTEMPTS_KEPT = 50

/** After this many workers fell silent over one run it is failed as `lost`: it is probably what killed them. */
export const LOST_MAX = 3

/** The reason of a run that was failed after so many. */
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
  return { ...stepOf(run, "succeeded", "succeeded"), ...output }
}

export interface Failure {
  readonly outcome: "failed" | "timeout"
  readonly error: string
  /** `DoNotRetry` says never, `RetryAfter` says when; otherwise the policy decides. */
  readonly retry: "policy" | "never" | { readonly afterMs: number }
  readonly output: Output
}

/** Back to pending while attempts are left, else failed. `chance` in [0, 1) spreads the retries of a common outage. */
export function fail(run: RunRef, failure: Failure, policy: RetryPolicy, chance: number): RunChange {
  const failures = run.failures + 1
  const isLast = failure.retry === "never" || failures >= policy.attempts
  const delayMs =
    typeof failure.retry === "object" ? failure.retry.afterMs : nextDelayMs(policy, failures, chance)
  return {
    ...stepOf(run, isLast ? "failed" : "pending", failure.outcome),
    claimableInMs: isLast ? null : delayMs,
    failures,
    error: failure.error,
    ...failure.output,
  }
}

/**
 * Gives a held run back at once, untried: a stopping worker doesn't make others wait for its lease. The run goes before all that
 * were due after it, as it did when it was taken.
 */
export function release(run: RunRef, reason: string, by: string | null = null): RunChange {
  return { ...stepOf(run, "pending", "released"), reason, by }
}

/** The end of a run that must not be performed again. The attempt that ends it doesn't perform it, so it isn't lost itself. */
export function giveUp(run: RunRef, error: string): RunChange {
  return { ...stepOf(run, "failed", "released"), error, reason: LOST }
}

/** Why one that has cost too many workers must not. */
export function poisonWords(run: Lives): string {
  const first = isFirstUnconfirmed(run) ? " Attempt 1 was not confirmed, and may have begun." : ""
  return `Lost: ${run.lost} attempts were confirmed by workers that then fell silent.${first}`
}

/** Whether a change is such an end. */
export function isGivenUp({ state, outcome, reason }: RunChange): boolean {
  return state === "failed" && outcome === "released" && reason === LOST
}

/** Whether the run has cost so many workers that it is probably what ended them. */
export function isPoison(run: Lives): boolean {
  return workersLostBy(run) >= LOST_MAX
}

type Lives = Pick<Run, "lost" | "attempts">

/**
 * A worker confirms every attempt but the first before it performs it, so those that stayed unconfirmed cost nothing. Of the
 * first it isn't known whether it was begun, and it counts.
 */
function workersLostBy(run: Lives): number {
  return run.lost + (isFirstUnconfirmed(run) ? 1 : 0)
}

function isFirstUnconfirmed({ attempts }: Lives): boolean {
  const first = attempts[0]
  return first?.attempt === 1 && first.outcome === "unconfirmed"
}

/** Whether a worker must have confirmed an attempt before it may perform it; the first costs no round trip. */
export function mustBeConfirmed({ attempt }: Pick<Run, "attempt">): boolean {
  return attempt > 1
}

/** Final at once, whoever is performing it: the worker hears of it at its next heartbeat and can't finish it any more. */
export function cancel(run: RunRef, why: { reason: string | null; by: string | null }): RunChange | null {
  if (isFinished(run.state)) return null
  return { ...stepOf(run, "cancelled", run.state === "running" ? "cancelled" : null), ...why }
}

/** Why a run was cancelled that gave way to one by hand. */
export const REPLACED_BY_HAND = "Replaced by a run that was triggered"

/** An operator's second chance for a run that ended badly: the same run, so the same idempotency key. */
export function retry(run: RunRef, by: string | null, reason: string | null = null): RunChange | null {
  if (run.state !== "failed" && run.state !== "cancelled") return null
  return { ...stepOf(run, "pending", null), claimableInMs: 0, failures: 0, lost: 0, reason, by }
}

/** Whether a change that was answered as stale is in fact already there: its first answer was lost on the way. */
export function isAlreadyMade(change: RunChange, now: { state: RunState | null; attempt: number }): boolean {
  return now.state === change.state && now.attempt === change.ifAttempt
}

function stepOf(run: RunRef, state: RunState, outcome: AttemptOutcome | null): RunChange {
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
