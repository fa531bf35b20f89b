import assert from "node:assert/strict"
import type { Redis } from "ioredis"
import {
  type Attempt,
  type AttemptOutcome,
  isFinished,
  type NewRun,
  type Run,
} from "../../../src/core/run/run.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule/schedule.ts"
import type { Instant } from "../../../src/core/time/instant.ts"

/** A run, with the parts of its past that decide how it is stored. */
export interface KnownRun {
  readonly run: Run
  readonly createdFrom: NewRun
  /** Whether a change has made the run pending again. */
  readonly wasReopened: boolean
  /** How the last change ended an attempt. Null: it ended none. */
  readonly outcome: AttemptOutcome | null
  readonly confirmedAttempt: number | null
}

/** Where a store keeps its keys. */
export interface Keys {
  readonly client: Redis
  readonly prefix: string
}

/** Asserts that the hash of the run and the list of its attempts are as the comment on `RunFields` says. */
export async function assertHash({ client, prefix }: Keys, known: KnownRun): Promise<void> {
  const { id, attempts } = known.run
  const hash = await client.hgetall(`${prefix}:runs:${id}`)
  assert.deepEqual({ ...hash }, textsOf(fieldsOf(known)), `the hash of ${id}`)

  const rows = await client.lrange(`${prefix}:attempts:${id}`, 0, -1)
  const inList = outcomeOf(known) === null ? attempts : attempts.slice(0, -1)
  const list = rows.map((row): unknown => JSON.parse(row))
  assert.deepEqual(list, inList.map(rowOf), `the list of attempts of ${id}`)
}

/** A field whose value is null must be absent. */
function fieldsOf(known: KnownRun): Record<string, string | number | null> {
  const { run, wasReopened, confirmedAttempt } = known
  const isSingle = isSingleRun(run)
  const isUnusual = isUnusualRun(known)
  const isFurther = run.scheduleId === null && (isUnusual || run.concurrencyLimit !== null)
  return {
    state: run.state,
    task: run.task,
    created_at: isoOf(run.createdAt),
    triggered_by: run.triggeredBy,
    payload: jsonOf(run.payload),
    priority: run.priority || null,
    attempt: run.attempt > 0 || wasReopened || isUnusual ? run.attempt : null,
    failures: run.failures || null,
    lost: run.lost || null,
    worker_id: run.workerId ?? run.attempts.at(-1)?.workerId ?? null,
    due_at: isoOf(run.dueAt),
    started_at: isoOf(run.startedAt),
    completed_at: isoOf(run.completedAt),
    outcome: outcomeOf(known),
    schedule_id: run.scheduleId,
    scheduled_for: isoOf(run.scheduledFor),
    parent_id: run.parentId,
    single: isSingle ? 1 : null,
    live_key: isSingle ? null : run.liveKey,
    concurrency_key: isSingle ? null : run.concurrencyKey,
    concurrency_limit: run.concurrencyLimit,
    further: isFurther ? 1 : null,
    message: run.message,
    details: jsonOf(run.details),
    error: run.error,
    reason: run.reason,
    by: run.by,
    progress: jsonOf(run.progress),
    confirmed_attempt: confirmedAttempt,
    more: moreOf(run),
  }
}

export function isSingleRun({ scheduleId, liveKey, concurrencyKey }: Run): boolean {
  if (scheduleId === null) return false
  return [liveKey, concurrencyKey].every((key) => key === concurrencyKeyOf(scheduleId))
}

function isUnusualRun({ run, createdFrom }: KnownRun): boolean {
  const { parentId, message, reason, by } = createdFrom
  const keys = isSingleRun(run) ? [] : [run.scheduleId, run.liveKey, run.concurrencyKey]
  return [...keys, parentId, message, reason, by].some((value) => value !== null)
}

function outcomeOf({ run, outcome }: KnownRun): AttemptOutcome | null {
  return isFinished(run.state) ? outcome : null
}

function moreOf({ trigger, missed, retry, timeoutMs }: Run): string | null {
  const more = Object.entries({ trigger, missed, retry, timeoutMs }).filter(([, value]) => value !== null)
  return more.length === 0 ? null : JSON.stringify(Object.fromEntries(more))
}

function rowOf({ attempt, workerId, dueAt, startedAt, endedAt, outcome, error }: Attempt) {
  return [attempt, workerId, dueAt, startedAt, endedAt, outcome, error]
}

/** The fields as Redis returns them, without those that must be absent. */
export function textsOf(fields: Record<string, string | number | null>): Record<string, string> {
  const present = Object.entries(fields).filter(([, value]) => value !== null)
  return Object.fromEntries(present.map(([name, value]) => [name, String(value)]))
}

function isoOf(instant: Instant | null): string | null {
  return instant === null ? null : new Date(instant).toISOString()
}

function jsonOf(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value)
}
