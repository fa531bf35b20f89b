import type {
  Schedule,
  ScheduleDefinition,
  ScheduleProgress,
  ScheduleTally,
} from "../../core/schedule/schedule.ts"

/** The part of a definition that stores keep as one JSON value. Only an edit changes it. */
export type StoredDefinition = Omit<ScheduleDefinition, "task" | "owner">

/** The fields that stores keep by themselves, or with the definition. */
type OwnFields = Omit<Schedule, keyof StoredDefinition | keyof ScheduleProgress | keyof ScheduleTally>

/** Field by field: V8 makes a spread of parsed JSON a slow object, for every later read. */
export function scheduleFromParts(
  own: OwnFields,
  definition: StoredDefinition,
  { progress, tally }: { progress: ScheduleProgress; tally: ScheduleTally },
): Schedule {
  return {
    id: own.id,
    version: own.version,
    revision: own.revision,
    createdAt: own.createdAt,
    updatedAt: own.updatedAt,
    declaredAs: own.declaredAs,
    task: own.task,
    owner: own.owner,
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
    nextRunAt: progress.nextRunAt,
    coveredUntil: progress.coveredUntil,
    overrides: progress.overrides,
    paused: progress.paused,
    firedCount: progress.firedCount,
    lastError: progress.lastError,
    finishedAt: progress.finishedAt,
    runCount: tally.runCount,
    lastRunId: tally.lastRunId,
    lastRunAt: tally.lastRunAt,
    lastState: tally.lastState,
    lastEndedAt: tally.lastEndedAt,
    lastSuccessAt: tally.lastSuccessAt,
    failuresInARow: tally.failuresInARow,
  }
}
