import { unreadableSchedule } from "../../core/records/damaged-records.ts"
import { assertValidSchedule } from "../../core/records/valid-records.ts"
import { definitionOf } from "../../core/schedule/reconcile.ts"
import type {
  EndState,
  NewSchedule,
  Schedule,
  ScheduleDefinition,
  ScheduleProgress,
} from "../../core/schedule/schedule.ts"
import { storedJson } from "../../core/values/json.ts"
import { finite, jsonText, unreadableBecause } from "../kit/isolation.ts"
import { placesOf, type RecordTable, type RowOf } from "../kit/record-table.ts"
import { scheduleFromParts } from "../kit/schedule-from-parts.ts"
import { instantIn } from "./instants.ts"

/** The fields that are read of a schedule's hash; the id follows them. The other fields are for people. */
const SCHEDULE = [
  ["version", "version"],
  ["definition", "definition"],
  ["progress", "progress"],
  ["runCount", "run_count"],
  ["lastRunId", "last_run_id"],
  ["lastRun", "last_run"],
  ["lastState", "last_state"],
  ["lastEnded", "last_ended"],
  ["lastSuccess", "last_success"],
  ["failuresInARow", "failures_in_a_row"],
] as const satisfies RecordTable

export const SCHEDULE_FIELDS = SCHEDULE.map(([, column]) => column)

const ROW = [...SCHEDULE, ["id", "id"]] as const satisfies RecordTable

const AT = placesOf(ROW)

/** The first three fields are in every hash. */
type StoredSchedule = Readonly<
  Record<"version" | "definition" | "progress" | "id", string> &
    Record<Exclude<(typeof SCHEDULE)[number][0], "version" | "definition" | "progress">, string | null>
>

export type ScheduleRow = RowOf<typeof ROW, StoredSchedule>

/** Scripts append further values to the row. */
type LongerRow = readonly [...ScheduleRow, ...unknown[]]

/** The parts of a schedule that only an edit changes. */
type Definition = ScheduleDefinition & Pick<Schedule, "revision" | "createdAt" | "updatedAt" | "declaredAs">

export function scheduleOf(row: LongerRow): Schedule {
  try {
    const schedule = partsOf(row, definitionIn(row[AT.definition]), storedJson(row[AT.progress]))
    assertValidSchedule(schedule)
    return schedule
  } catch (error) {
    return unreadableSchedule(
      partsOf(row, readableJson(row[AT.definition]), readableJson(row[AT.progress])),
      unreadableBecause(error),
    )
  }
}

/** An empty object if the text cannot be read. */
function readableJson<T>(text: string | null): T {
  try {
    return (storedJson(text ?? "") ?? {}) as T
  } catch {
    return {} as T
  }
}

function partsOf(row: LongerRow, definition: Definition, progress: ScheduleProgress): Schedule {
  const own = {
    id: row[AT.id],
    version: Number(row[AT.version]),
    revision: definition.revision,
    createdAt: definition.createdAt,
    updatedAt: definition.updatedAt,
    declaredAs: definition.declaredAs,
    task: definition.task,
    owner: definition.owner,
  }
  const tally = {
    runCount: Number(row[AT.runCount] ?? 0),
    lastRunId: row[AT.lastRunId],
    lastRunAt: instantIn(row[AT.lastRun]),
    lastState: row[AT.lastState] as EndState | null,
    lastEndedAt: instantIn(row[AT.lastEnded]),
    lastSuccessAt: instantIn(row[AT.lastSuccess]),
    failuresInARow: Number(row[AT.failuresInARow] ?? 0),
  }
  return scheduleFromParts(own, definition, { progress, tally })
}

const KNOWN_MAX = 10_000
const KNOWN_TEXT_MAX = 4_000

/**
 * Parsed definitions by their text: a definition is read at every fire, and only an edit changes it. The text lacks the id, so
 * schedules that are otherwise equal share one. Records are never changed in place.
 */
const known = new Map<string, Definition>()

function definitionIn(text: string): Definition {
  const found = known.get(text)
  if (found !== undefined) return found
  const definition = storedJson(text) as Definition
  if (known.size >= KNOWN_MAX) known.clear()
  if (text.length <= KNOWN_TEXT_MAX) known.set(text, definition)
  return definition
}

/** A definition as it is stored. */
export function definitionText(schedule: NewSchedule): string {
  const { revision, createdAt, updatedAt, declaredAs } = schedule
  const definition: Definition = { revision, createdAt, updatedAt, declaredAs, ...definitionOf(schedule) }
  return jsonText(definition)
}

/** The arguments for `lua/progress.ts`: the text, `nextRunAt` and `lastError`. All are empty if the schedule is removed. */
export function pushProgress(args: (string | number)[], progress: ScheduleProgress | null): void {
  if (progress === null) {
    args.push("", "", "")
    return
  }
  const { nextRunAt, lastError } = progress
  const text = jsonText(progress)
  args.push(text, nextRunAt === null ? "" : finite(nextRunAt), lastError ?? "")
}

export const PROGRESS_ARGS = 3
