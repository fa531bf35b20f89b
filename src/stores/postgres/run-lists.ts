import type { NewRun, RunChange } from "../../core/run/run.ts"
import { jsonTextOrNull } from "../kit/isolation.ts"
import { type ListColumn, listsOf, listTypes, rowsOfLists } from "./lists.ts"

/** A new run as parameters: one array for each column, so that one statement takes any number of runs. */
const NEW_RUN: readonly ListColumn<NewRun>[] = [
  ["id", "text", (run) => run.id],
  ["task", "text", (run) => run.task, "shared"],
  ["payload", "text", (run) => jsonTextOrNull(run.payload)],
  ["priority", "integer", (run) => run.priority, "shared"],
  ["schedule_id", "text", (run) => run.scheduleId],
  ["scheduled_for", "bigint", (run) => run.scheduledFor],
  ["triggered_by", "text", (run) => run.triggeredBy, "shared"],
  ["trigger", "text", (run) => run.trigger],
  ["missed", "text", (run) => jsonTextOrNull(run.missed)],
  ["live_key", "text", (run) => run.liveKey],
  ["concurrency_key", "text", (run) => run.concurrencyKey],
  ["concurrency_limit", "integer", (run) => run.concurrencyLimit],
  ["retry", "text", (run) => jsonTextOrNull(run.retry)],
  ["timeout_ms", "bigint", (run) => run.timeoutMs],
  ["reason", "text", (run) => run.reason],
  ["by_name", "text", (run) => run.by],
  ["state", "text", (run) => run.state, "shared"],
  ["delay_ms", "bigint", (run) => run.delayMs],
  ["not_before", "bigint", (run) => run.notBefore],
  ["message", "text", (run) => run.message],
  ["parent_id", "text", (run) => run.parentId],
]

export const NEW_RUN_PARAMETERS = NEW_RUN.length
/** The parameters with the live keys and with the schedules. Null if no run has one. */
export const LIVE_KEYS = 1 + NEW_RUN.findIndex(([column]) => column === "live_key")
export const SCHEDULE_IDS = 1 + NEW_RUN.findIndex(([column]) => column === "schedule_id")

export function newRunLists(runs: readonly NewRun[]): readonly unknown[] {
  return listsOf(NEW_RUN, runs)
}

/** The parameter types of a function that takes these lists: `text[], text[], …`. */
export function newRunTypes(more: readonly ListColumn<never>[] = []): string {
  return listTypes([...NEW_RUN, ...more])
}

/** The lists as rows `n`. The parameters begin at `first`. */
export function newRunRows(first: number, more: readonly ListColumn<never>[] = []): string {
  return `(${rowsOfLists([...NEW_RUN, ...more], first)}) as n`
}

/** One change of a run as parameters. */
export const RUN_CHANGE: readonly ListColumn<RunChange>[] = [
  ["id", "text", (change) => change.runId],
  ["if_state", "text", (change) => change.ifState, "shared"],
  ["if_attempt", "integer", (change) => change.ifAttempt, "shared"],
  ["state", "text", (change) => change.state, "shared"],
  ["claimable_in_ms", "bigint", (change) => change.claimableInMs],
  ["failures", "integer", (change) => change.failures, "shared"],
  ["lost", "integer", (change) => change.lost, "shared"],
  ["outcome", "text", (change) => change.outcome],
  ["message", "text", (change) => change.message],
  ["details", "text", (change) => jsonTextOrNull(change.details)],
  ["error", "text", (change) => change.error],
  ["progress", "text", (change) => jsonTextOrNull(change.progress)],
  ["reason", "text", (change) => change.reason],
  ["by_name", "text", (change) => change.by],
]

export const NEW_RUN_COLUMNS = `
    id, task, payload, priority, schedule_id, scheduled_for, triggered_by, trigger, missed, live_key, concurrency_key,
    concurrency_limit, retry, timeout_ms, reason, by_name, state, claimable_at, created_at, completed_at, message,
    parent_id`

/** From a row `n` of new runs, in the order of `NEW_RUN_COLUMNS`. */
export const newRunValues = (now: string) => `
    n.id, n.task, n.payload::jsonb, n.priority, n.schedule_id, to_timestamp(n.scheduled_for / 1000.0), n.triggered_by,
    n.trigger, n.missed::jsonb, n.live_key, n.concurrency_key, n.concurrency_limit, n.retry::jsonb, n.timeout_ms, n.reason,
    n.by_name, n.state,
    case
      when n.state = 'pending'
      then coalesce(greatest(${now} + n.delay_ms * interval '1 millisecond', to_timestamp(n.not_before / 1000.0)), ${now})
    end,
    ${now},
    case when n.state = 'skipped' then ${now} end,
    n.message,
    n.parent_id`
