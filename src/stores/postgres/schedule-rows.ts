import type { FirePlan } from "../../core/firing/plan.ts"
import { minimalPolicies } from "../../core/options/minimal-options.ts"
import { readableTriggers, unreadOptionsIn } from "../../core/options/unread-options.ts"
import { unreadableSchedule } from "../../core/records/unreadable.ts"
import { assertValidSchedule } from "../../core/records/valid-records.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type { Edit, EndState, Schedule, ScheduleProgress } from "../../core/schedule/schedule.ts"
import type { Trigger } from "../../core/time/timetable.ts"
import type { Json } from "../../core/values/json.ts"
import { jsonText, unreadableBecause } from "../kit/isolation.ts"
import type { ListColumn } from "./lists.ts"
import { instantOf, jsonOf, ms, numberOf, type Row, type Text, textOrNull } from "./rows.ts"
import { readOptions } from "./schedule-options.ts"

/**
 * People can read and write a schedule's row: what they use has its own column, and `options` has the policies, of which any may
 * be missing. Invalid values are not refused here: the plan reports them on the schedule.
 */
const SCHEDULE_COLUMNS: readonly (readonly [column: string, type: string])[] = [
  ["id", "text"],
  ["version", "bigint"],
  ["revision", "integer"],
  ["created_at", "timestamptz"],
  ["updated_at", "timestamptz"],
  ["declared_as", "text"],
  ["task", "text"],
  ["owner", "text"],
  ["next_run_at", "timestamptz"],
  ["covered_until", "timestamptz"],
  ["overrides", "jsonb"],
  ["paused", "jsonb"],
  ["fired_count", "bigint"],
  ["last_error", "text"],
  ["finished_at", "timestamptz"],
  ["run_count", "bigint"],
  ["last_run_id", "text"],
  ["last_run_at", "timestamptz"],
  ["function", "text"],
  ["description", "text"],
  ["cron", "text"],
  ["timezone", "text"],
  ["payload", "jsonb"],
  ["enabled", "boolean"],
  ["priority", "integer"],
  ["tags", "json"],
  ["triggers", "jsonb"],
  ["options", "jsonb"],
  ["release", "bigint"],
  ["unsettled", "jsonb"],
  ["last_state", "text"],
  ["last_ended_at", "timestamptz"],
  ["last_success_at", "timestamptz"],
  ["failures_in_a_row", "bigint"],
]

/** Joins the counts of a schedule. `limit 1` makes the planner use the primary key in every plan. */
export const countsOf = (s: string) => `
  left join lateral (
    select one.*
    from belfry.counts as one
    where one.schedule_id = ${s}.id
    limit 1
  ) as c on true
  left join lateral (
    select one.*
    from belfry.ends as one
    where one.schedule_id = ${s}.id
    limit 1
  ) as e on true`

/**
 * The same joins for a query that reads all schedules. By primary key, 10,000 schedules took 20,000 index scans, and the
 * estimated cost made the server compile the query: the first call took 558 ms, and with these joins 40.
 */
export const countsOfAll = (s: string) => `
  left join belfry.counts as c on c.schedule_id = ${s}.id
  left join belfry.ends as e on e.schedule_id = ${s}.id`

/** Needs the joins of `countsOf` or `countsOfAll`. */
export const scheduleColumns = (s: string) =>
  SCHEDULE_COLUMNS.map(([column, type]) => {
    const own = tallyColumn(s, column) ?? `${s}.${column}`
    if (type === "timestamptz") return ms(own)
    return type === "json" ? `pg_catalog.to_json(${own})` : own
  }).join(", ")

/** The columns that count runs, which fires and other calls create, and those that say how runs ended. Null for other columns. */
export function tallyColumn(s: string, column: string): string | null {
  if (ENDS.includes(column)) return `e.${column}`
  if (column === "failures_in_a_row") return "coalesce(e.failures_in_a_row, 0)"
  if (column === "run_count") return `(${s}.runs_fired + coalesce(c.run_count, 0))`
  if (column === "last_run_at") return `greatest(${s}.last_fired_at, c.last_run_at)`
  if (column !== "last_run_id") return null
  return `case when c.last_run_at >= coalesce(${s}.last_fired_at, '-infinity') then c.last_run_id else ${s}.last_fired_id end`
}

const ENDS = ["last_state", "last_ended_at", "last_success_at"]

/** The result columns of a function that returns `scheduleColumns`. */
export const SCHEDULE_TYPES = SCHEDULE_COLUMNS.map(
  ([column, type]) => `${column} ${type === "timestamptz" ? "float8" : type}`,
).join(", ")

/** Reads the columns of `scheduleColumns`, which begin at `from` in the row. */
export function scheduleOf(row: Row, from = 0): Schedule {
  const schedule = withoutEdits(row, from)
  const unsettled = row[from + 29] as Text
  if (unsettled === null) return schedule
  try {
    return { ...schedule, edits: editsOf(unsettled, row.slice(from)) }
  } catch (error) {
    return unreadableSchedule(schedule, unreadableBecause(error))
  }
}

function withoutEdits(row: Row, from: number): Schedule {
  const schedule = partsOf(row, from)
  try {
    assertValidSchedule(schedule)
    return schedule
  } catch (error) {
    return unreadableSchedule(schedule, unreadableBecause(error))
  }
}

function partsOf(row: Row, from: number): Schedule {
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  const { policies, problem } = readOptions(text(27))
  const triggers = triggersOf(optional(20), jsonOf(text(26)))
  return {
    id: text(0),
    version: Number(text(1)),
    revision: Number(text(2)),
    createdAt: instantOf(text(3)),
    updatedAt: instantOf(text(4)),
    declaredAs: optional(5),
    task: text(6),
    owner: optional(7),
    nextRunAt: numberOf(optional(8)),
    coveredUntil: numberOf(optional(9)),
    overrides: jsonOf(text(10)),
    paused: jsonOf(optional(11)),
    firedCount: Number(text(12)),
    lastError: optional(13),
    finishedAt: numberOf(optional(14)),
    runCount: Number(text(15)),
    lastRunId: optional(16),
    lastRunAt: numberOf(optional(17)),
    lastState: optional(30) as EndState | null,
    lastEndedAt: numberOf(optional(31)),
    lastSuccessAt: numberOf(optional(32)),
    failuresInARow: Number(text(33)),
    payload: payloadOf(optional(18), optional(22)),
    description: text(19),
    triggers: problem === null || !Array.isArray(triggers) ? triggers : [...triggers, problem],
    timezone: text(21),
    enabled: text(23) === "t",
    priority: Number(text(24)),
    tags: jsonOf(text(25)),
    dst: policies.dst,
    jitterMs: policies.jitterMs,
    spacingMs: policies.spacingMs,
    startsAt: policies.startsAt,
    endsAt: policies.endsAt,
    maxRuns: policies.maxRuns,
    removeWhenFinished: policies.removeWhenFinished,
    catchUp: policies.catchUp,
    overlap: policies.overlap,
    maxConcurrentRuns: policies.maxConcurrentRuns,
    dependsOn: policies.dependsOn,
    retry: policies.retry,
    timeoutMs: policies.timeoutMs,
    release: Number(text(28)),
  }
}

/** An edit made by SQL, as a trigger of the table records it: the old values of the columns that changed. */
interface StoredEdit {
  readonly at: number
  readonly by: string | null
  readonly was: { readonly [column: string]: Json }
  readonly nextRunAt?: number | null
}

/** Undoes the edits from the newest to the oldest, to find the schedule as it was before each edit. */
function editsOf(unsettled: string, row: Row): readonly Edit[] {
  const edits: Edit[] = []
  let before = row
  for (const edit of jsonOf<readonly StoredEdit[]>(unsettled).toReversed()) {
    assertSoundEdit(edit)
    const { at, by, was, ...asked } = edit
    before = SCHEDULE_COLUMNS.map(([column, type], place) => {
      if (column === "unsettled") return null
      return Object.hasOwn(was, column) ? columnText(was[column]!, type) : (before[place] as Text)
    })
    const schedule = withoutEdits(before, 0)
    edits.unshift({ at, by, was: { ...definitionOf(schedule), paused: schedule.paused }, ...asked })
  }
  return edits
}

function assertSoundEdit({ at, was, nextRunAt = null }: StoredEdit): void {
  const isSound =
    Number.isFinite(at) &&
    (nextRunAt === null || Number.isFinite(nextRunAt)) &&
    typeof was === "object" &&
    was !== null
  if (!isSound) throw new TypeError(`unsettled holds an edit at ${at} to ${nextRunAt}`)
}

/** The text that the server would have sent for the value. */
function columnText(value: Json, type: string): Text {
  if (value === null) return null
  if (type === "boolean") return value === true ? "t" : "f"
  return type === "jsonb" || type === "json" ? JSON.stringify(value) : String(value)
}

/** In the order of `DEFINITION_COLUMNS`. */
export function definitionValues(schedule: Schedule): readonly unknown[] {
  const { task, owner, payload, description, triggers, timezone, enabled, priority, tags, release } = schedule
  const called = functionOf(task, payload)
  const times = readableTriggers(triggers)
  const [first, ...more] = times
  const hasCron = first?.kind === "cron" && first.dayMatch === "either"
  return [
    ...[task, owner, called?.name ?? null, description, hasCron ? first.cron : null, timezone],
    called === null ? jsonText(payload) : called.payload,
    ...[enabled, priority, tags, JSON.stringify(hasCron ? more : times)],
    ...[JSON.stringify(unreadOptionsIn(triggers)?.options.written ?? minimalPolicies(schedule)), release],
  ]
}

export const DEFINITION_COLUMNS =
  "task, owner, function, description, cron, timezone, payload, enabled, priority, tags, triggers, options, release"

/** In the order of `PROGRESS_COLUMNS`. */
export function progressValues(progress: ScheduleProgress): readonly unknown[] {
  const { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt } = progress
  return [
    ...[nextRunAt, coveredUntil, JSON.stringify(overrides), textOrNull(paused)],
    ...[firedCount, lastError, finishedAt],
  ]
}

/** The cron of the column `cron` comes first, because `definitionValues` takes the first trigger for it. */
function triggersOf(cron: Text, more: readonly Trigger[]): readonly Trigger[] {
  // A value that is not a list is reported when the schedule is read.
  if (cron === null || !Array.isArray(more)) return more
  return [{ kind: "cron", cron, dayMatch: "either" }, ...more]
}

/** The task that calls functions of the database. Its payload names the function, which has its own column. */
const FUNCTION_TASK = "sql"

function payloadOf(name: Text, payload: Text): Json {
  if (name === null) return jsonOf(payload)
  return payload === null ? { function: name } : { function: name, payload: jsonOf(payload) }
}

/** Null for another task, or if the payload has more than the columns can hold. */
function functionOf(task: string, payload: Json): { name: string; payload: Text } | null {
  if (task !== FUNCTION_TASK || payload === null || typeof payload !== "object" || Array.isArray(payload))
    return null
  const { function: name, payload: own, ...rest } = payload as { readonly [key: string]: Json }
  if (typeof name !== "string" || Object.keys(rest).length > 0) return null
  return { name, payload: own === undefined ? null : jsonText(own) }
}

/** The new progress of a plan's schedule as parameters. Null values if the plan removes the schedule. */
export const FIRE_PLAN: readonly ListColumn<FirePlan>[] = [
  ["id", "text", (plan) => plan.scheduleId],
  ["if_version", "bigint", (plan) => plan.ifVersion],
  ["is_removed", "boolean", (plan) => plan.progress === null, "shared"],
  ["next_run_at", "bigint", (plan) => plan.progress?.nextRunAt ?? null],
  ["covered_until", "bigint", (plan) => plan.progress?.coveredUntil ?? null],
  ["overrides", "text", (plan) => (plan.progress === null ? null : JSON.stringify(plan.progress.overrides))],
  ["paused", "text", (plan) => textOrNull(plan.progress?.paused ?? null)],
  ["fired_count", "bigint", (plan) => plan.progress?.firedCount ?? null],
  ["last_error", "text", (plan) => plan.progress?.lastError ?? null],
  ["finished_at", "bigint", (plan) => plan.progress?.finishedAt ?? null],
  ["run_count", "integer", (plan) => runIdsOf(plan).length, "shared"],
  ["last_run_id", "text", (plan) => runIdsOf(plan).at(-1) ?? null],
]

/** Without skipped runs, which do not count. */
function runIdsOf({ runs }: FirePlan): readonly string[] {
  return [...new Set(runs.filter(({ state }) => state === "pending").map(({ id }) => id))]
}
