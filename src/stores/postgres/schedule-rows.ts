import { minimalPolicies } from "../../core/options/minimal-options.ts"
import type { FirePlan } from "../../core/planning/plan.ts"
import { unreadableSchedule } from "../../core/records/damaged-records.ts"
import { assertValidSchedule } from "../../core/records/valid-records.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type {
  Edit,
  EndState,
  Schedule,
  ScheduleDefinition,
  ScheduleProgress,
} from "../../core/schedule/schedule.ts"
import type { Trigger } from "../../core/schedule/timetable.ts"
import { readableTriggers, unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { Json } from "../../core/values/json.ts"
import { jsonText, jsonTextOrNull, unreadableBecause } from "../kit/isolation.ts"
import { placesOf } from "../kit/record-table.ts"
import type { ListColumn } from "./lists.ts"
import { instantOf, jsonOf, ms, numberOf, type Row, type Text } from "./rows.ts"
import { readOptions } from "./schedule-options.ts"

/**
 * People can read and write a schedule's row: what they use has its own column, and `options` has the policies, of which any may
 * be missing. Invalid values are not refused here: the plan reports them on the schedule.
 */
const SCHEDULE = [
  ["id", "id", "text"],
  ["version", "version", "bigint"],
  ["revision", "revision", "integer"],
  ["createdAt", "created_at", "timestamptz"],
  ["updatedAt", "updated_at", "timestamptz"],
  ["declaredAs", "declared_as", "text"],
  ["task", "task", "text"],
  ["owner", "owner", "text"],
  ["nextRunAt", "next_run_at", "timestamptz"],
  ["coveredUntil", "covered_until", "timestamptz"],
  ["overrides", "overrides", "jsonb"],
  ["paused", "paused", "jsonb"],
  ["firedCount", "fired_count", "bigint"],
  ["lastError", "last_error", "text"],
  ["finishedAt", "finished_at", "timestamptz"],
  ["runCount", "run_count", "bigint"],
  ["lastRunId", "last_run_id", "text"],
  ["lastRunAt", "last_run_at", "timestamptz"],
  ["function", "function", "text"],
  ["description", "description", "text"],
  ["cron", "cron", "text"],
  ["timezone", "timezone", "text"],
  ["payload", "payload", "jsonb"],
  ["enabled", "enabled", "boolean"],
  ["priority", "priority", "integer"],
  ["tags", "tags", "json"],
  ["triggers", "triggers", "jsonb"],
  ["options", "options", "jsonb"],
  ["release", "release", "bigint"],
  ["unsettled", "unsettled", "jsonb"],
  ["lastState", "last_state", "text"],
  ["lastEndedAt", "last_ended_at", "timestamptz"],
  ["lastSuccessAt", "last_success_at", "timestamptz"],
  ["failuresInARow", "failures_in_a_row", "bigint"],
] as const satisfies readonly (readonly [field: string, column: string, type: string])[]

const SCHEDULE_AT = placesOf(SCHEDULE)

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
  SCHEDULE.map(([, column, type]) => {
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
export const SCHEDULE_TYPES = SCHEDULE.map(
  ([, column, type]) => `${column} ${type === "timestamptz" ? "float8" : type}`,
).join(", ")

/** Reads the columns of `scheduleColumns`, which begin at `from` in the row. */
export function scheduleOf(row: Row, from = 0): Schedule {
  const schedule = withoutEdits(row, from)
  const unsettled = row[from + SCHEDULE_AT.unsettled] as Text
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
  const at = SCHEDULE_AT
  const text = (place: number) => row[from + place] as string
  const optional = (place: number) => row[from + place] as Text
  const { policies, problem } = readOptions(text(at.options))
  const triggers = triggersOf(optional(at.cron), jsonOf(text(at.triggers)))
  return {
    id: text(at.id),
    version: Number(text(at.version)),
    revision: Number(text(at.revision)),
    createdAt: instantOf(text(at.createdAt)),
    updatedAt: instantOf(text(at.updatedAt)),
    declaredAs: optional(at.declaredAs),
    task: text(at.task),
    owner: optional(at.owner),
    nextRunAt: numberOf(optional(at.nextRunAt)),
    coveredUntil: numberOf(optional(at.coveredUntil)),
    overrides: jsonOf(text(at.overrides)),
    paused: jsonOf(optional(at.paused)),
    firedCount: Number(text(at.firedCount)),
    lastError: optional(at.lastError),
    finishedAt: numberOf(optional(at.finishedAt)),
    runCount: Number(text(at.runCount)),
    lastRunId: optional(at.lastRunId),
    lastRunAt: numberOf(optional(at.lastRunAt)),
    lastState: optional(at.lastState) as EndState | null,
    lastEndedAt: numberOf(optional(at.lastEndedAt)),
    lastSuccessAt: numberOf(optional(at.lastSuccessAt)),
    failuresInARow: Number(text(at.failuresInARow)),
    payload: payloadOf(optional(at.function), optional(at.payload)),
    description: text(at.description),
    triggers: problem === null || !Array.isArray(triggers) ? triggers : [...triggers, problem],
    timezone: text(at.timezone),
    enabled: text(at.enabled) === "t",
    priority: Number(text(at.priority)),
    tags: jsonOf(text(at.tags)),
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
    release: Number(text(at.release)),
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
    before = SCHEDULE.map(([, column, type], place) => {
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
export function definitionValues(schedule: ScheduleDefinition): readonly unknown[] {
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
    ...[nextRunAt, coveredUntil, JSON.stringify(overrides), jsonTextOrNull(paused)],
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
  ["paused", "text", (plan) => jsonTextOrNull(plan.progress?.paused ?? null)],
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
