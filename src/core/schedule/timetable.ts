import type { Cron, DstPolicy } from "../cron/cron.ts"
import { parseCron } from "../cron/parse.ts"
import { nextOccurrence, previousOccurrence } from "../cron/search.ts"
import { BelfryError } from "../errors.ts"
import { EARLIEST, type Instant, LATEST } from "../time/instant.ts"
import { zoneNamed } from "../time/zone.ts"
import type { UnreadOptions } from "./unread-options.ts"

/** When a schedule occurs. Several triggers add up; an instant that two triggers share is one occurrence. */
export interface Timetable {
  readonly id: string
  readonly triggers: readonly Trigger[]
  readonly timezone: string
  readonly dst: DstPolicy
  /** The instant that intervals count from if their trigger has no anchor. It never changes, so intervals never drift. */
  readonly anchor: Instant
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
}

export type Trigger =
  | { readonly kind: "cron"; readonly cron: string; readonly dayMatch: "either" | "both" }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchor: Instant | null }
  | { readonly kind: "at"; readonly at: Instant }
  /** Written by SQL without our checks. Planning it fails with `why`. */
  | { readonly kind: "unreadable"; readonly why: string; readonly options?: UnreadOptions }

const NEVER = Number.POSITIVE_INFINITY

/** The first nominal instant strictly after `after`. Preview and firing both use this, so they can't disagree. */
export function nextInTimetable(timetable: Timetable, after: Instant): Instant | null {
  return nextAmong(timetable, readTriggers(timetable), after)
}

function nextAmong(
  { startsAt, endsAt }: Timetable,
  triggers: readonly ReadTrigger[],
  after: Instant,
): Instant | null {
  const from = Math.max(after, (startsAt ?? EARLIEST) - 1)
  let next = NEVER
  for (const trigger of triggers) next = Math.min(next, nextOf(trigger, from))
  return next <= (endsAt ?? LATEST) ? next : null
}

/** The last nominal instant strictly before `before`. */
export function previousInTimetable(timetable: Timetable, before: Instant): Instant | null {
  const { triggers, startsAt, endsAt } = timetable
  const from = Math.min(before, (endsAt ?? LATEST) + 1)
  let previous = -NEVER
  for (const trigger of triggers)
    previous = Math.max(previous, previousOf(readTrigger(timetable, trigger), from))
  return previous >= (startsAt ?? EARLIEST) ? previous : null
}

/** The number of nominal instants in (after, until]. Counting stops at `limit`, so that no gap takes seconds. */
export function countInTimetable(
  timetable: Timetable,
  after: Instant,
  until: Instant,
  limit: number,
): number {
  const [only, ...more] = timetable.triggers
  if (only?.kind === "every" && more.length === 0)
    return Math.min(limit, countIntervals(timetable, only.everyMs, after, until))
  // Parsed once for all steps: looking up the parsed form takes longer than a step.
  const triggers = readTriggers(timetable)
  let count = 0
  for (let at = nextAmong(timetable, triggers, after); at !== null && at <= until && count < limit; count++) {
    at = nextAmong(timetable, triggers, at)
  }
  return count
}

function countIntervals(timetable: Timetable, everyMs: number, after: Instant, until: Instant): number {
  const first = nextInTimetable(timetable, after)
  const last = previousInTimetable(timetable, until + 1)
  if (first === null || last === null || last < first) return 0
  return Math.round((last - first) / everyMs) + 1
}

/** A trigger in the form that the search uses. */
type ReadTrigger = Cron | Extract<Trigger, { kind: "at" }>

function readTriggers(timetable: Timetable): readonly ReadTrigger[] {
  // Checks the zone even if no trigger uses it, because everything that shows the schedule does.
  zoneNamed(timetable.timezone)
  return timetable.triggers.map((trigger) => readTrigger(timetable, trigger))
}

function readTrigger(timetable: Timetable, trigger: Trigger): ReadTrigger {
  return trigger.kind === "at" ? trigger : cronOf(timetable, trigger)
}

function nextOf(trigger: ReadTrigger, after: Instant): Instant {
  if (trigger.kind === "at") return trigger.at > after ? trigger.at : NEVER
  return nextOccurrence(trigger, Math.max(after, beginningOf(trigger) - 1)) ?? NEVER
}

function previousOf(trigger: ReadTrigger, before: Instant): Instant {
  if (trigger.kind === "at") return trigger.at < before ? trigger.at : -NEVER
  const at = previousOccurrence(trigger, before) ?? -NEVER
  return at >= beginningOf(trigger) ? at : -NEVER
}

/** An interval has no occurrences before its anchor. */
function beginningOf(cron: Cron): Instant {
  return (cron.kind === "interval" ? cron.anchor : null) ?? EARLIEST
}

/** A repeating trigger in the form that the search and the description use. */
export function cronOf(timetable: Timetable, trigger: Exclude<Trigger, { kind: "at" }>): Cron {
  if (trigger.kind === "cron") return compiled(timetable, trigger)
  if (trigger.kind === "unreadable") throw new BelfryError("BELFRY_SCHEDULE_INVALID", trigger.why)
  // Possible only in rows written by SQL without our checks. The search for an interval of 0 would never end.
  if (!(trigger.everyMs >= 1)) {
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", `Trigger ${JSON.stringify(trigger)} can't be read.`)
  }
  const anchor = trigger.anchor ?? anchorOf(timetable)
  return { kind: "interval", expression: "", everyMs: trigger.everyMs, anchor }
}

function anchorOf(timetable: Timetable): Instant {
  return timetable.startsAt ?? timetable.anchor
}

/**
 * A cache of parsed expressions, by everything they depend on. A hundred thousand schedules at "0 * * * *" share one entry; only
 * `H` depends on the schedule. Parsing costs as much as 20 searches, and would otherwise happen at every fire.
 */
const parsed = new Map<string, Cron>()
const PARSED_MAX = 10_000

function compiled(timetable: Timetable, trigger: Extract<Trigger, { kind: "cron" }>): Cron {
  const isSeeded = /h/i.test(trigger.cron)
  const isInterval = /@e/i.test(trigger.cron)
  const anchor = anchorOf(timetable)
  const { timezone, dst } = timetable
  const key = [
    ...[trigger.cron, timezone, dst.gap, dst.overlap, trigger.dayMatch],
    ...[isSeeded && timetable.id, isInterval && anchor],
  ].join("\n")
  const known = parsed.get(key)
  if (known) return known
  const cron = parseCron(trigger.cron, {
    timezone,
    dst,
    dayMatch: trigger.dayMatch,
    seed: timetable.id,
    anchor,
  })
  if (parsed.size >= PARSED_MAX) parsed.clear()
  parsed.set(key, cron)
  return cron
}
