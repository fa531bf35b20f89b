import { defineSchedule } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import type { ScheduleDefinition } from "../../core/schedule.ts"

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
  if (isComplete(options)) return { options, problem: null }
  try {
    if (options === null || typeof options !== "object" || Array.isArray(options)) {
      throw new BelfryError("BELFRY_SCHEDULE_INVALID", `options is ${text.slice(0, 80)}; write an object.`)
    }
    return { options: completed(options), problem: null }
  } catch (error) {
    return { options: completed({}), problem: error instanceof Error ? error.message : String(error) }
  }
}

function isComplete(options: Partial<StoredOptions>): options is StoredOptions {
  return options?.jitterMs !== undefined && options.spacingMs !== undefined && options.release !== undefined
}

/** Through the one door for schedules; the timetable has columns of its own, so any will do here. */
function completed(options: ScheduleOptions): StoredOptions {
  const context = { id: "options", task: "any", payload: null, owner: null, release: 0, now: null }
  return defineSchedule({ ...options, cron: "0 0 * * *" }, context)
}
