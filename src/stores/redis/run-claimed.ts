import type { Instant } from "../../core/instant.ts"
import type { Run, TriggeredBy } from "../../core/run.ts"
import { concurrencyKeyOf } from "../../core/schedule.ts"
import { attemptOf, jsonOf, moreIn, numberOf } from "./run-rows.ts"

/**
 * What a claim reads of each run, in this order: values without names are half as much for the server to say, and to parse. The
 * task and the priority are those of its queue.
 */
export const FIRST_FIELDS = [
  "state",
  "attempt",
  "created_at",
  "triggered_by",
  "payload",
  "more",
  "schedule_id",
  "scheduled_for",
  "concurrency_limit",
] as const

/** What it reads only of a run that has an attempt, be it nought: others have none of these, but are single if of a schedule. */
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
  "worker_id",
  "started_at",
] as const

type Text = string | null

export type ClaimedRow = readonly [
  state: string,
  attempt: Text,
  createdAt: string,
  triggeredBy: TriggeredBy,
  payload: Text,
  more: Text,
  scheduleId: Text,
  scheduledFor: Text,
  concurrencyLimit: Text,
  id: string,
  queue: number,
  further: Further | null,
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
  attempts: readonly string[],
]

interface Queue {
  readonly task: string
  readonly priority: number
  readonly leasedUntil: Instant
}

const NOTHING_FURTHER: Further = [null, null, null, null, null, null, null, null, null, null, []]
/** Of those without more to read, the ones that are of a schedule hold its key. */
const NOTHING_BUT_SINGLE: Further = ["1", null, null, null, null, null, null, null, null, null, []]

/** As it is now that the worker has it. Queues are counted from 1. */
export function claimedRunOf(row: ClaimedRow, queues: readonly Queue[], workerId: string, now: Instant): Run {
  const scheduleId = row[6]
  const { task, priority, leasedUntil } = queues[row[10] - 1]!
  const more = moreIn(row[5])
  const further = row[11] ?? (scheduleId === null ? NOTHING_FURTHER : NOTHING_BUT_SINGLE)
  const singleKey = further[0] === null ? null : concurrencyKeyOf(scheduleId!)
  return {
    id: row[9],
    task,
    payload: jsonOf(row[4]),
    priority,
    scheduleId,
    scheduledFor: numberOf(row[7]),
    triggeredBy: row[3],
    trigger: more.trigger ?? null,
    missed: more.missed ?? null,
    liveKey: singleKey ?? further[1],
    concurrencyKey: singleKey ?? further[2],
    concurrencyLimit: numberOf(row[8]),
    retry: more.retry ?? null,
    timeoutMs: more.timeoutMs ?? null,
    reason: further[4],
    by: further[5],
    state: "running",
    claimableAt: leasedUntil,
    attempt: Number(row[1]) + 1,
    failures: Number(further[6]),
    lost: Number(further[7]),
    workerId,
    createdAt: Number(row[2]),
    startedAt: now,
    completedAt: null,
    message: further[3],
    details: jsonOf(further[8]),
    error: further[9],
    progress: null,
    attempts: further[10].map(attemptOf),
  }
}
