import type { Run, RunState, TriggeredBy } from "../../core/run.ts"
import { SUMMARY_TEXT_MAX } from "../../core/run-summary.ts"
import { assertSoundRun } from "../../core/sound.ts"
import { unreadableRun } from "../../core/unreadable.ts"
import { unreadableBecause } from "../kit/isolation.ts"
import { instantOf, jsonOf, ms, numberOf, type Row, type Text } from "./rows.ts"
import { readOptions } from "./schedule-options.ts"

/** A run as it is read: each column's type, and where it isn't simply that of a row `r`, what it is. */
const RUN: readonly RunColumn[] = [
  ["id", "text"],
  ["task", "text"],
  ["payload", "jsonb"],
  ["priority", "integer"],
  ["schedule_id", "text"],
  ["scheduled_for", "timestamptz"],
  ["triggered_by", "text"],
  ["trigger", "text"],
  ["live_key", "text"],
  ["concurrency_key", "text"],
  ["concurrency_limit", "integer"],
  ["attempt", "integer"],
  ["created_at", "timestamptz"],
  ["due_at", "timestamptz"],
  ["rest", "json", restOf],
]

/**
 * What most runs that are claimed have nothing of, as one value. Node takes its time for columns that are null, too: 2.9 µs for
 * a row of 28 of which 10 are not, 1.3 for one of 14.
 */
function restOf(r: string): string {
  const names = [
    ...["missed", "retry", "timeout_ms", "reason", "by_name", "message", "details", "error", "parent_id"],
  ]
  const columns = names.map((column) => `${r}.${column}`).join(", ")
  return `case
      when pg_catalog.num_nonnulls(${columns}, ${r}.attempts, ${r}.outcome) > 0 or ${r}.failures > 0 or ${r}.lost > 0
      then pg_catalog.json_build_array(${columns}, ${r}.failures, ${r}.lost, ${storyOf(r)})
    end`
}

type Rest = readonly [
  ...(readonly [Run["missed"], Run["retry"] | Written, Run["timeoutMs"], Run["reason"], Run["by"]]),
  ...(readonly [Run["message"], Run["details"], Run["error"], Run["parentId"]]),
  ...(readonly [failures: number, lost: number, attempts: Run["attempts"] | null]),
]
const NO_REST: Rest = [null, null, null, null, null, null, null, null, null, 0, 0, null]

/** A run that was triggered by SQL has its schedule's options as they are written there. */
interface Written {
  readonly options: object
}

/** By the usual rules where they can't be understood: the schedule says so, and somebody wants this run. */
function rulesOf(retry: Run["retry"] | Written, timeoutMs: number | null): Pick<Run, "retry" | "timeoutMs"> {
  if (typeof retry !== "object" || retry === null || !("options" in retry)) return { retry, timeoutMs }
  const { policies } = readOptions(JSON.stringify(retry.options))
  return { retry: policies.retry, timeoutMs: policies.timeoutMs }
}

/** What whoever claims a run knows without being told. */
const STEP: readonly RunColumn[] = [
  ["state", "text"],
  ["claimable_at", "timestamptz"],
  // It stays in the row for the story's sake.
  ["worker_id", "text", (r) => `case when ${r}.state = 'running' then ${r}.worker_id end`],
  ["started_at", "timestamptz"],
  ["completed_at", "timestamptz"],
  ["progress", "jsonb"],
]

type RunColumn = readonly [column: string, type: string, value?: (r: string) => string]

/** The attempts that have ended: the newest of them stands in columns of its own until the next begins. */
export function storyOf(r: string): string {
  return `case
      when ${r}.outcome is null then ${r}.attempts
      else belfry.with_attempt(
        ${r}.attempts, ${r}.attempt, ${r}.worker_id, ${r}.due_at, ${r}.started_at, ${r}.ended_at, ${r}.outcome, ${r}.error
      )
    end`
}

export const runColumns = (r: string) => columnsOf([...RUN, ...STEP], r)

/** As `runColumns`, with nothing in place of what a summary leaves out, so that the server needn't read it. */
export const summaryColumns = (r: string) =>
  columnsOf(
    [...RUN, ...STEP].map((each): RunColumn => {
      const [column, type] = each
      if (column === "payload") return [column, type, () => "null"]
      return column === "rest" ? [column, type, summaryRestOf] : each
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

/** Of a run that has just been claimed. */
export const claimedColumns = (r: string) => columnsOf(RUN, r)
export const CLAIMED_TYPES = RUN.map(
  ([column, type]) => `${column} ${type === "timestamptz" ? "float8" : type}`,
).join(", ")

function columnsOf(columns: readonly RunColumn[], r: string): string {
  return columns
    .map(([column, type, value]) => {
      const own = `${r}.${column}`
      return value?.(r) ?? (type === "timestamptz" ? ms(own) : own)
    })
    .join(", ")
}

type Step = Pick<Run, "state" | "claimableAt" | "workerId" | "startedAt" | "completedAt" | "progress">

/** What a change of the run names it by. */
export function keyOf(row: Row, from = 0): { id: string; attempt: number } {
  return { id: row[from] as string, attempt: Number(row[from + 11]) }
}

/** For people: of a run that can't be read whole, what can be, with its fault as the error. */
export function readableRunOf(row: Row): Run {
  const run = partsOf(row, 0, stepOf(row, RUN.length))
  try {
    assertSoundRun(run)
    return run
  } catch (error) {
    return unreadableRun(run, unreadableBecause(error))
  }
}

/** By place, in the order of `claimedColumns`; `from` is where they begin in the row. Throws if the row can't be read. */
export function runOf(row: Row, from: number, step: Step): Run {
  const run = partsOf(row, from, step)
  assertSoundRun(run)
  return run
}

function partsOf(row: Row, from: number, step: Step): Run {
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  const [missed, retry, timeoutMs, reason, by, message, details, error, parentId, failures, lost, attempts] =
    furtherOf(optional(14))
  const rules = rulesOf(retry, timeoutMs)
  return {
    id: text(0),
    task: text(1),
    payload: jsonOf(optional(2)),
    priority: Number(text(3)),
    scheduleId: optional(4),
    scheduledFor: numberOf(optional(5)),
    parentId,
    triggeredBy: text(6) as TriggeredBy,
    trigger: optional(7),
    missed,
    liveKey: optional(8),
    concurrencyKey: optional(9),
    concurrencyLimit: numberOf(optional(10)),
    ...rules,
    reason,
    by,
    state: step.state,
    claimableAt: step.claimableAt,
    attempt: Number(text(11)),
    failures,
    lost,
    workerId: step.workerId,
    createdAt: instantOf(text(12)),
    dueAt: numberOf(optional(13)),
    startedAt: step.startedAt,
    completedAt: step.completedAt,
    message,
    details,
    error,
    progress: step.progress,
    attempts: attempts ?? [],
  }
}

function furtherOf(text: Text): Rest {
  if (text === null) return NO_REST
  // Nothing, where it can't be read: then the run isn't sound.
  return jsonOf<Rest | undefined>(text) ?? ([] as unknown as Rest)
}

function stepOf(row: Row, from: number): Step {
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
