import { assertValidRun } from "../../core/records/valid-records.ts"
import type { Run, TriggeredBy } from "../../core/run/run.ts"
import { concurrencyKeyOf } from "../../core/schedule/schedule.ts"
import type { Instant } from "../../core/time/instant.ts"
import { instantIn } from "./instants.ts"
import { attemptOf, jsonOf, moreIn, numberOf } from "./run-rows.ts"

/**
 * The fields that a claim reads of each run, in this order. Values without names halve the reply and the time to parse it. Most
 * runs have only these fields; then the further ones are not sent. The task and the priority are those of the queue.
 */
export const FIRST_FIELDS = [
  "created_at",
  "triggered_by",
  // The stored value. The script replaces it with the run's score in its queue.
  "due_at",
  "payload",
  "schedule_id",
  "scheduled_for",
  "concurrency_limit",
  "more",
  "attempt",
  "state",
] as const

/** Read only if the run has an `attempt`, also attempt 0. Other runs have none of these; those of schedules are single. */
export const FURTHER_FIELDS = [
  "single",
  "live_key",
  "concurrency_key",
  "message",
  "reason",
  "by",
  "failures",
  "lost",
  "details",
  "error",
  "parent_id",
  "worker_id",
  "started_at",
  "confirmed_attempt",
] as const

type Text = string | null

/** Values that are null at the end are left out. */
export type ClaimedRow = readonly [
  createdAt: string,
  triggeredBy: TriggeredBy,
  dueAt: string,
  payload?: Text,
  scheduleId?: Text,
  scheduledFor?: Text,
  concurrencyLimit?: Text,
  more?: Text,
  attempt?: Text,
  further?: Further,
]

type Further = readonly [
  single: Text,
  liveKey: Text,
  concurrencyKey: Text,
  message: Text,
  reason: Text,
  by: Text,
  failures: Text,
  lost: Text,
  details: Text,
  error: Text,
  parentId: Text,
  attempts: readonly string[],
]

/** What the runs of one queue share that a worker claims in one call. */
interface Held {
  readonly task: string
  readonly priority: number
  readonly leasedUntil: Instant
  readonly workerId: string
  readonly now: Instant
}

const NOTHING_FURTHER: Further = [null, null, null, null, null, null, null, null, null, null, null, []]
/** A run of a schedule without further fields is single: it holds the schedule's key. */
const NOTHING_BUT_SINGLE: Further = ["1", null, null, null, null, null, null, null, null, null, null, []]

/** The run as it is after the claim. Throws if the run cannot be read. */
export function claimedRunOf(id: string, row: ClaimedRow, held: Held): Run {
  const run = partsOf(id, row, held)
  assertValidRun(run)
  return run
}

function partsOf(id: string, row: ClaimedRow, held: Held): Run {
  const scheduleId = row[4] ?? null
  const more = moreIn(row[7])
  const further = row[9] ?? (scheduleId === null ? NOTHING_FURTHER : NOTHING_BUT_SINGLE)
  const singleKey = further[0] === null ? null : concurrencyKeyOf(scheduleId!)
  return {
    id,
    task: held.task,
    payload: jsonOf(row[3]),
    priority: held.priority,
    scheduleId,
    scheduledFor: instantIn(row[5]),
    parentId: further[10],
    triggeredBy: row[1],
    trigger: more.trigger ?? null,
    missed: more.missed ?? null,
    liveKey: singleKey ?? further[1],
    concurrencyKey: singleKey ?? further[2],
    concurrencyLimit: numberOf(row[6]),
    retry: more.retry ?? null,
    timeoutMs: more.timeoutMs ?? null,
    reason: further[4],
    by: further[5],
    state: "running",
    claimableAt: held.leasedUntil,
    attempt: Number(row[8] ?? 0) + 1,
    failures: numberOf(further[6]) ?? 0,
    lost: numberOf(further[7]) ?? 0,
    workerId: held.workerId,
    createdAt: instantIn(row[0]) ?? Number.NaN,
    dueAt: Number(row[2]),
    startedAt: held.now,
    completedAt: null,
    message: further[3],
    details: jsonOf(further[8]),
    error: further[9],
    progress: null,
    attempts: further[11].map(attemptOf),
  }
}
