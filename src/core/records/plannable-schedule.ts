import { BelfryError } from "../errors.ts"
import type { Pause, Schedule } from "../schedule/schedule.ts"
import type { Trigger } from "../schedule/timetable.ts"
import { DURATION_MAX } from "../time/duration.ts"
import { isInstant, SECOND } from "../time/instant.ts"
import { isJsonObject } from "../values/json.ts"
import { shownJson } from "../values/shown.ts"

/**
 * In a store that other programs write to, the parts of a schedule may be any JSON. This refuses values that can't be planned:
 * a search that begins at the instant 1e300 would never end.
 */
export function assertPlannable(schedule: Schedule): void {
  const { triggers, overrides, paused, startsAt, endsAt } = schedule
  const { createdAt, coveredUntil, nextRunAt, firedCount } = schedule
  assertList("triggers", triggers)
  triggers.forEach((trigger, index) => {
    if (!isTrigger(trigger)) throw unreadable(`triggers[${index}]`, trigger, TRIGGER_FORMS)
  })
  assertList("overrides", overrides)
  overrides.forEach((override, index) => {
    const isFit =
      isJsonObject(override) &&
      isInstant(override.scheduledFor) &&
      isInstantOrNull(override.dueAt) &&
      ["undefined", "boolean"].includes(typeof override.isNext) &&
      isRemark(override.reason) &&
      isRemark(override.by)
    if (!isFit) throw unreadable(`overrides[${index}]`, override, OVERRIDE_FORM)
  })
  if (paused !== null && !isPause(paused)) throw unreadable("paused", paused, PAUSE_FORM)
  assertBound("startsAt", startsAt)
  assertBound("endsAt", endsAt)
  assertInstantOrNull("createdAt", createdAt)
  assertInstantOrNull("coveredUntil", coveredUntil)
  assertInstantOrNull("nextRunAt", nextRunAt)
  if (!Number.isSafeInteger(firedCount)) throw unreadable("firedCount", firedCount, "a whole number")
}

const TRIGGER_FORMS =
  '{"kind": "cron", "cron": text, "dayMatch": "either" or "both"}, {"kind": "every", "everyMs": 1000 or more, "anchor": ms or null} ' +
  'or {"kind": "at", "at": ms}'
const OVERRIDE_FORM = '{"scheduledFor": ms, "dueAt": ms or null}'
const PAUSE_FORM = '{"at": ms, "until": ms or null}'

function isPause(paused: Pause): boolean {
  return (
    isJsonObject(paused) &&
    isInstant(paused.at) &&
    isInstantOrNull(paused.until) &&
    isRemark(paused.reason) &&
    isRemark(paused.by)
  )
}

/** Rows written by SQL may leave it out. */
function isRemark(value: unknown): boolean {
  return value === undefined || value === null || typeof value === "string"
}

function isTrigger(trigger: Trigger): boolean {
  if (!isJsonObject(trigger)) return false
  if (trigger.kind === "unreadable") return true
  if (trigger.kind === "at") return isInstant(trigger.at)
  if (trigger.kind === "every") {
    const isInterval =
      Number.isInteger(trigger.everyMs) && trigger.everyMs >= SECOND && trigger.everyMs <= DURATION_MAX
    return isInterval && isInstantOrNull(trigger.anchor ?? null)
  }
  return (
    trigger.kind === "cron" &&
    typeof trigger.cron === "string" &&
    (trigger.dayMatch === "either" || trigger.dayMatch === "both")
  )
}

function isInstantOrNull(value: unknown): boolean {
  return value === null || isInstant(value)
}

function assertInstantOrNull(name: string, value: unknown): void {
  if (!isInstantOrNull(value)) throw unreadable(name, value, "an instant of the years 1 to 9999")
}

/** A bound of the timetable is only compared, so it may have a fraction. */
function assertBound(name: string, value: unknown): void {
  assertInstantOrNull(name, typeof value === "number" ? Math.floor(value) : value)
}

/** More than our checks allow. Each element costs time at every plan. */
const LIST_MAX = 250

function assertList(name: string, value: unknown): asserts value is readonly unknown[] {
  if (!Array.isArray(value) || value.length > LIST_MAX)
    throw unreadable(name, value, `a list of at most ${LIST_MAX}`)
}

function unreadable(what: string, value: unknown, allowed: string): BelfryError {
  return new BelfryError(
    "BELFRY_SCHEDULE_INVALID",
    `${what} is ${shownJson(value)}, which can't be read; write ${allowed}.`,
  )
}
