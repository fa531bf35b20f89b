import { defineSchedule } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import type { ScheduleDefinition } from "../../core/schedule.ts"
import { assertStored } from "./stored-options.ts"

/** What a definition has beside the columns. */
export type StoredOptions = Omit<
  ScheduleDefinition,
  "task" | "owner" | "payload" | "description" | "triggers" | "timezone" | "enabled" | "priority" | "tags"
>

export type ReadOptions = { readonly options: StoredOptions; readonly problem: string | null }

/** By their text: nearly all schedules have the same few, and a fire reads them each time. */
const known = new Map<string, ReadOptions>()
const KNOWN_MAX = 1_000

/**
 * The column `options`: as Belfry writes them, complete; or as people do, in the words of `schedules.create`, where anything
 * may be missing. What can't be understood is said as a problem, with the usual options in its place.
 */
export function readOptions(text: string): ReadOptions {
  let read = known.get(text)
  if (read === undefined) {
    read = understood(text)
    if (known.size >= KNOWN_MAX) known.clear()
    known.set(text, read)
  }
  return read
}

function understood(text: string): ReadOptions {
  const options = JSON.parse(text) as Partial<StoredOptions> & ScheduleOptions
  try {
    if (options === null || typeof options !== "object" || Array.isArray(options)) {
      throw new BelfryError("BELFRY_SCHEDULE_INVALID", `options is ${text.slice(0, 80)}; write an object.`)
    }
    const whole = isComplete(options) ? options : completed(options)
    assertStored(whole)
    return { options: whole, problem: null }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    // Which schedule it is stands beside the message.
    return { options: completed({}), problem: message.replace(/^Schedule "options": /, "options: ") }
  }
}

function isComplete(options: Partial<StoredOptions>): options is StoredOptions {
  return options?.jitterMs !== undefined && options.spacingMs !== undefined && options.release !== undefined
}

/** Through the one door for schedules; the timetable has columns of its own, so any will do here. */
function completed(options: ScheduleOptions): StoredOptions {
  const elsewhere = Object.entries(options).find(
    ([option, value]) => value !== null && Object.hasOwn(ELSEWHERE, option),
  )
  if (elsewhere !== undefined) {
    const [option] = elsewhere
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", `options has ${option}; ${ELSEWHERE[option]}.`)
  }
  const context = { id: "options", task: "any", payload: null, owner: null, release: 0, now: null }
  return defineSchedule({ ...options, cron: "0 0 * * *" }, context)
}

const IN_CRON = 'write it into the column cron, an interval as "@every 90s"'

/** What a row says by its columns. In `options` it would be left out without a word. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(["cron", "every", "at", "in", "triggers"].map((option) => [option, IN_CRON])),
  anchor: "write startsAt: an interval counts from there",
  dayMatch: 'write "+" before the weekday in the column cron: then a day must match both',
  ...Object.fromEntries(
    ["task", "payload", "timezone", "priority", "enabled", "tags", "description", "owner"].map((option) => [
      option,
      `write it into the column ${option}`,
    ]),
  ),
}
