import { unreadableRun } from "../../core/records/damaged-records.ts"
import { assertValidRun } from "../../core/records/valid-records.ts"
import type { Run, RunState, TriggeredBy } from "../../core/run/run.ts"
import { SUMMARY_TEXT_MAX } from "../../core/run/run-summary.ts"
import { unreadableBecause } from "../kit/isolation.ts"
import { placesOf } from "../kit/record-table.ts"
import { instantOf, jsonOf, ms, numberOf, type Row, type Text } from "./rows.ts"
import { readOptions } from "./schedule-options.ts"

/** The columns that are read of a run: field, name, type, and the expression if it is not the column of the row `r`. */
const RUN = [
  ["id", "id", "text"],
  ["task", "task", "text"],
  ["payload", "payload", "jsonb"],
  ["priority", "priority", "integer"],
  ["scheduleId", "schedule_id", "text"],
  ["scheduledFor", "scheduled_for", "timestamptz"],
  ["triggeredBy", "triggered_by", "text"],
  ["trigger", "trigger", "text"],
  ["liveKey", "live_key", "text"],
  ["concurrencyKey", "concurrency_key", "text"],
  ["concurrencyLimit", "concurrency_limit", "integer"],
  ["attempt", "attempt", "integer"],
  ["createdAt", "created_at", "timestamptz"],
  ["dueAt", "due_at", "timestamptz"],
  ["rest", "rest", "json", restOf],
] as const satisfies readonly RunColumn[]

const RUN_AT = placesOf(RUN)

/**
 * Columns that are null in most claimed runs, as one JSON value. The driver needs time for null columns too: 2.9 µs for a row of
 * 28 columns of which 18 are null, 1.3 µs for a row of 14.
 */
function restOf(r: string): string {
  const names = [
    ...["missed", "retry", "timeout_ms", "reason", "by_name", "message", "details", "error", "parent_id"],
  ]
  const columns = names.map((column) => `${r}.${column}`).join(", ")
  return `case
      when pg_catalog.num_nonnulls(${columns}, ${r}.attempts, ${r}.outcome) > 0 or ${r}.failures > 0 or ${r}.lost > 0
      then pg_catalog.json_build_array(${columns}, ${r}.failures, ${r}.lost, ${attemptsOf(r)})
    end`
}

type Rest = readonly [
  ...(readonly [Run["missed"], Run["retry"] | UnparsedOptions, Run["timeoutMs"], Run["reason"], Run["by"]]),
  ...(readonly [Run["message"], Run["details"], Run["error"], Run["parentId"]]),
  ...(readonly [failures: number, lost: number, attempts: Run["attempts"] | null]),
]
const NO_REST: Rest = [null, null, null, null, null, null, null, null, null, 0, 0, null]

/** A run triggered by SQL has the `options` of its schedule, unparsed, in the column `retry`. */
interface UnparsedOptions {
  readonly options: object
}

/** Uses the defaults for options that cannot be read: the schedule reports the error, and the run was asked for explicitly. */
function policiesFor(
  retry: Run["retry"] | UnparsedOptions,
  timeoutMs: number | null,
): Pick<Run, "retry" | "timeoutMs"> {
  if (typeof retry !== "object" || retry === null || !("options" in retry)) return { retry, timeoutMs }
  const { policies } = readOptions(JSON.stringify(retry.options))
  return { retry: policies.retry, timeoutMs: policies.timeoutMs }
}

/** The columns that a claimer knows without reading them. */
const STATE_COLUMNS: readonly RunColumn[] = [
  ["state", "state", "text"],
  ["claimableAt", "claimable_at", "timestamptz"],
  // A finished run keeps its worker_id in the row, for the history of its last attempt.
  ["workerId", "worker_id", "text", (r) => `case when ${r}.state = 'running' then ${r}.worker_id end`],
  ["startedAt", "started_at", "timestamptz"],
  ["completedAt", "completed_at", "timestamptz"],
  ["progress", "progress", "jsonb"],
]

type RunColumn = readonly [field: string, column: string, type: string, value?: (r: string) => string]

/** The attempts that have ended. The newest of them is in columns of the run until the next attempt begins. */
export function attemptsOf(r: string): string {
  return `case
      when ${r}.outcome is null then ${r}.attempts
      else belfry.with_attempt(
        ${r}.attempts, ${r}.attempt, ${r}.worker_id, ${r}.due_at, ${r}.started_at, ${r}.ended_at, ${r}.outcome, ${r}.error
      )
    end`
}

export const runColumns = (r: string) => columnsOf([...RUN, ...STATE_COLUMNS], r)

/** Like `runColumns`, with null for the columns that a summary leaves out, so that the server does not read them. */
export const summaryColumns = (r: string) =>
  columnsOf(
    [...RUN, ...STATE_COLUMNS].map((each): RunColumn => {
      const [field, column, type] = each
      if (field === "payload") return [field, column, type, () => "null"]
      return field === "rest" ? [field, column, type, summaryRestOf] : each
    }),
    r,
  )

function summaryRestOf(r: string): string {
  const text = (column: string) => `pg_catalog.substr(${r}.${column}, 1, ${SUMMARY_TEXT_MAX})`
  return `pg_catalog.json_build_array(
      ${r}.missed, ${r}.retry, ${r}.timeout_ms, ${r}.reason, ${r}.by_name, ${text("message")}, null, ${text("error")}, ${r}.parent_id,
      ${r}.failures, ${r}.lost, null
    )`
}

/** The columns of a run that has just been claimed. */
export const claimedColumns = (r: string) => columnsOf(RUN, r)
export const CLAIMED_TYPES = RUN.map(
  ([, column, type]) => `${column} ${type === "timestamptz" ? "float8" : type}`,
).join(", ")

function columnsOf(columns: readonly RunColumn[], r: string): string {
  return columns
    .map(([, column, type, value]) => {
      const own = `${r}.${column}`
      return value?.(r) ?? (type === "timestamptz" ? ms(own) : own)
    })
    .join(", ")
}

type StateColumns = Pick<Run, "state" | "claimableAt" | "workerId" | "startedAt" | "completedAt" | "progress">

/** The id and the attempt, which a change of the run needs. */
export function keyOf(row: Row, from = 0): { id: string; attempt: number } {
  return { id: row[from + RUN_AT.id] as string, attempt: Number(row[from + RUN_AT.attempt]) }
}

/** For lists and inspection. If the run cannot be read completely, returns the readable parts, with the reason as `error`. */
export function readableRunOf(row: Row): Run {
  const run = partsOf(row, 0, stateColumnsOf(row, RUN.length))
  try {
    assertValidRun(run)
    return run
  } catch (error) {
    return unreadableRun(run, unreadableBecause(error))
  }
}

/** Reads the columns of `claimedColumns`, which begin at `from` in the row. Throws if the row cannot be read. */
export function runOf(row: Row, from: number, stateColumns: StateColumns): Run {
  const run = partsOf(row, from, stateColumns)
  assertValidRun(run)
  return run
}

function partsOf(row: Row, from: number, stateColumns: StateColumns): Run {
  const at = RUN_AT
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  const [missed, retry, timeoutMs, reason, by, message, details, error, parentId, failures, lost, attempts] =
    restIn(optional(at.rest))
  const policies = policiesFor(retry, timeoutMs)
  return {
    id: text(at.id),
    task: text(at.task),
    payload: jsonOf(optional(at.payload)),
    priority: Number(text(at.priority)),
    scheduleId: optional(at.scheduleId),
    scheduledFor: numberOf(optional(at.scheduledFor)),
    parentId,
    triggeredBy: text(at.triggeredBy) as TriggeredBy,
    trigger: optional(at.trigger),
    missed,
    liveKey: optional(at.liveKey),
    concurrencyKey: optional(at.concurrencyKey),
    concurrencyLimit: numberOf(optional(at.concurrencyLimit)),
    ...policies,
    reason,
    by,
    state: stateColumns.state,
    claimableAt: stateColumns.claimableAt,
    attempt: Number(text(at.attempt)),
    failures,
    lost,
    workerId: stateColumns.workerId,
    createdAt: instantOf(text(at.createdAt)),
    dueAt: numberOf(optional(at.dueAt)),
    startedAt: stateColumns.startedAt,
    completedAt: stateColumns.completedAt,
    message,
    details,
    error,
    progress: stateColumns.progress,
    attempts: attempts ?? [],
  }
}

function restIn(text: Text): Rest {
  if (text === null) return NO_REST
  // Empty if it cannot be read; then the run is not sound.
  return jsonOf<Rest | undefined>(text) ?? ([] as unknown as Rest)
}

function stateColumnsOf(row: Row, from: number): StateColumns {
  const [state, claimableAt, workerId, startedAt, completedAt, progress] = row.slice(from) as Text[]
  return {
    state: state as RunState,
    claimableAt: numberOf(claimableAt!),
    workerId: workerId!,
    startedAt: numberOf(startedAt!),
    completedAt: numberOf(completedAt!),
    progress: jsonOf(progress!),
  }
}
