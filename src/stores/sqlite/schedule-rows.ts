import { UNREADABLE_VERSION, unreadableSchedule } from "../../core/records/unreadable.ts"
import { assertValidSchedule } from "../../core/records/valid-records.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type {
  EndState,
  Schedule,
  ScheduleDefinition,
  ScheduleProgress,
} from "../../core/schedule/schedule.ts"
import { jsonText, unreadableBecause } from "../kit/isolation.ts"
import type { Value } from "./driver.ts"
import { parse, parseOrNothing, textOrNull } from "./rows.ts"

/** Fields that queries filter or change have columns; the rest of a definition is one JSON value, which only an edit changes. */
export const SCHEDULE_COLUMNS = `
  id, version, revision, created_at, updated_at, declared_as, task, owner, next_run_at, covered_until, overrides,
  paused, fired_count, last_error, finished_at, definition, run_count, last_run_id, last_run_at,
  last_state, last_ended_at, last_success_at, failures_in_a_row`

export type ScheduleRow = readonly [
  id: string,
  version: number,
  revision: number,
  createdAt: number,
  updatedAt: number,
  declaredAs: string | null,
  task: string,
  owner: string | null,
  nextRunAt: number | null,
  coveredUntil: number | null,
  overrides: string,
  paused: string | null,
  firedCount: number,
  lastError: string | null,
  finishedAt: number | null,
  definition: string,
  runCount: number,
  lastRunId: string | null,
  lastRunAt: number | null,
  lastState: EndState | null,
  lastEndedAt: number | null,
  lastSuccessAt: number | null,
  failuresInARow: number,
]

export function scheduleOf(row: ScheduleRow): Schedule {
  try {
    const schedule = partsOf(row, parse)
    assertValidSchedule(schedule)
    return schedule
  } catch (error) {
    return unreadableSchedule(partsOf(row, parseOrNothing), unreadableBecause(error))
  }
}

function partsOf(row: ScheduleRow, parse: <T>(text: string) => T): Schedule {
  const definition = parse<StoredDefinition | null>(row[15]) ?? ({} as StoredDefinition)
  // Field by field: V8 makes a spread of parsed JSON a slow object, for every later read.
  return {
    id: row[0],
    version: row[1],
    revision: row[2],
    createdAt: row[3],
    updatedAt: row[4],
    declaredAs: row[5],
    task: row[6],
    owner: row[7],
    nextRunAt: row[8],
    coveredUntil: row[9],
    overrides: parse(row[10]),
    paused: row[11] === null ? null : parse(row[11]),
    firedCount: row[12],
    lastError: row[13],
    finishedAt: row[14],
    runCount: row[16],
    lastRunId: row[17],
    lastRunAt: row[18],
    lastState: row[19],
    lastEndedAt: row[20],
    lastSuccessAt: row[21],
    failuresInARow: row[22],
    payload: definition.payload,
    triggers: definition.triggers,
    timezone: definition.timezone,
    dst: definition.dst,
    priority: definition.priority,
    jitterMs: definition.jitterMs,
    spacingMs: definition.spacingMs,
    startsAt: definition.startsAt,
    endsAt: definition.endsAt,
    maxRuns: definition.maxRuns,
    removeWhenFinished: definition.removeWhenFinished,
    catchUp: definition.catchUp,
    overlap: definition.overlap,
    maxConcurrentRuns: definition.maxConcurrentRuns,
    dependsOn: definition.dependsOn,
    retry: definition.retry,
    timeoutMs: definition.timeoutMs,
    enabled: definition.enabled,
    tags: definition.tags,
    description: definition.description,
    release: definition.release,
  }
}

/** The version as `scheduleOf` reads it, in SQL. Changes are compared with it. */
export const VERSION = `
    case when version between 1 and ${Number.MAX_SAFE_INTEGER} then version else ${UNREADABLE_VERSION} end`

type StoredDefinition = Omit<ScheduleDefinition, "task" | "owner">

/** In the order of `SCHEDULE_COLUMNS`, without the columns that the store counts. */
export function scheduleValues(schedule: Schedule, version: number): readonly Value[] {
  const { id, revision, createdAt, updatedAt, declaredAs, task, owner } = schedule
  return [
    ...[id, version, revision, createdAt, updatedAt, declaredAs, task, owner],
    ...progressValues(schedule),
    jsonText(storedDefinitionOf(schedule)),
  ]
}

/** In the order of `SCHEDULE_COLUMNS`, from `next_run_at` to `finished_at`. */
export function progressValues(progress: ScheduleProgress): readonly Value[] {
  const { nextRunAt, coveredUntil, overrides, paused, firedCount, lastError, finishedAt } = progress
  return [
    ...[nextRunAt, coveredUntil, JSON.stringify(overrides), textOrNull(paused)],
    ...[firedCount, lastError, finishedAt],
  ]
}

/** The task and the owner have columns of their own. */
function storedDefinitionOf(schedule: Schedule): StoredDefinition {
  const { task: _task, owner: _owner, ...definition } = definitionOf(schedule)
  return definition
}
