import { UNREADABLE_VERSION, unreadableSchedule } from "../../core/records/damaged-records.ts"
import { assertValidSchedule } from "../../core/records/valid-records.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type { NewSchedule, Schedule, ScheduleProgress } from "../../core/schedule/schedule.ts"
import { jsonText, jsonTextOrNull, unreadableBecause } from "../kit/isolation.ts"
import { columnsOf, placesOf, type RecordTable, type RowOf } from "../kit/record-table.ts"
import { type StoredDefinition, scheduleFromParts } from "../kit/schedule-from-parts.ts"
import type { Value } from "./driver.ts"
import { parse, parseOrNothing } from "./rows.ts"

/** Fields that queries filter or change have columns; the rest of a definition is one JSON value, which only an edit changes. */
const SCHEDULE = [
  ["id", "id"],
  ["version", "version"],
  ["revision", "revision"],
  ["createdAt", "created_at"],
  ["updatedAt", "updated_at"],
  ["declaredAs", "declared_as"],
  ["task", "task"],
  ["owner", "owner"],
  ["nextRunAt", "next_run_at"],
  ["coveredUntil", "covered_until"],
  ["overrides", "overrides"],
  ["paused", "paused"],
  ["firedCount", "fired_count"],
  ["lastError", "last_error"],
  ["finishedAt", "finished_at"],
  ["definition", "definition"],
  ["runCount", "run_count"],
  ["lastRunId", "last_run_id"],
  ["lastRunAt", "last_run_at"],
  ["lastState", "last_state"],
  ["lastEndedAt", "last_ended_at"],
  ["lastSuccessAt", "last_success_at"],
  ["failuresInARow", "failures_in_a_row"],
] as const satisfies RecordTable

/** Some values are stored as JSON. */
type StoredSchedule = Omit<Schedule, "overrides" | "paused"> & {
  readonly overrides: string
  readonly paused: string | null
  readonly definition: string
}

export type ScheduleRow = RowOf<typeof SCHEDULE, StoredSchedule>

export const SCHEDULE_COLUMNS = columnsOf(SCHEDULE)

const SCHEDULE_AT = placesOf(SCHEDULE)

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
  const at = SCHEDULE_AT
  const paused = row[at.paused]
  const own = {
    id: row[at.id],
    version: row[at.version],
    revision: row[at.revision],
    createdAt: row[at.createdAt],
    updatedAt: row[at.updatedAt],
    declaredAs: row[at.declaredAs],
    task: row[at.task],
    owner: row[at.owner],
  }
  const progress = {
    nextRunAt: row[at.nextRunAt],
    coveredUntil: row[at.coveredUntil],
    overrides: parse<Schedule["overrides"]>(row[at.overrides]),
    paused: paused === null ? null : parse<Schedule["paused"]>(paused),
    firedCount: row[at.firedCount],
    lastError: row[at.lastError],
    finishedAt: row[at.finishedAt],
  }
  const tally = {
    runCount: row[at.runCount],
    lastRunId: row[at.lastRunId],
    lastRunAt: row[at.lastRunAt],
    lastState: row[at.lastState],
    lastEndedAt: row[at.lastEndedAt],
    lastSuccessAt: row[at.lastSuccessAt],
    failuresInARow: row[at.failuresInARow],
  }
  const definition = parse<StoredDefinition | null>(row[at.definition]) ?? ({} as StoredDefinition)
  return scheduleFromParts(own, definition, { progress, tally })
}

/** The version as `scheduleOf` reads it, in SQL. Changes are compared with it. */
export const VERSION = `
    case when version between 1 and ${Number.MAX_SAFE_INTEGER} then version else ${UNREADABLE_VERSION} end`

/** In the order of `SCHEDULE_COLUMNS`, without the columns that the store counts. */
export function scheduleValues(schedule: NewSchedule, version: number): readonly Value[] {
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
    ...[nextRunAt, coveredUntil, JSON.stringify(overrides), jsonTextOrNull(paused)],
    ...[firedCount, lastError, finishedAt],
  ]
}

/** The task and the owner have columns of their own. */
function storedDefinitionOf(schedule: NewSchedule): StoredDefinition {
  const { task: _task, owner: _owner, ...definition } = definitionOf(schedule)
  return definition
}
