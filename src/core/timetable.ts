import type { Cron, DstPolicy } from "./cron/cron.ts"
import { parseCron } from "./cron/parse.ts"
import { nextOccurrence, previousOccurrence } from "./cron/search.ts"
import { BelfryError } from "./errors.ts"
import { EARLIEST, type Instant, LATEST } from "./instant.ts"
import type { UnreadOptions } from "./unread-options.ts"
import { zoneNamed } from "./zone.ts"

/** When a schedule occurs, as plain data; several triggers add up, and the same instant twice is one occurrence. */
export interface Timetable {
  readonly id: string
  readonly triggers: readonly Trigger[]
  readonly timezone: string
  readonly dst: DstPolicy
  /** What intervals count from when their trigger doesn't say: an instant that never moves, so they never drift. */
  readonly anchor: Instant
  readonly startsAt: Instant | null
  readonly endsAt: Instant | null
}

export type Trigger =
  | { readonly kind: "cron"; readonly cron: string; readonly dayMatch: "either" | "both" }
  | { readonly kind: "every"; readonly everyMs: number; readonly anchor: Instant | null }
  | { readonly kind: "at"; readonly at: Instant }
  /** Written without our checks, where a store lets others write: whoever plans it learns why it can't be. */
  | { readonly kind: "unreadable"; readonly why: string; readonly options?: UnreadOptions }

const NEVER = Number.POSITIVE_INFINITY

/** The first nominal instant strictly after `after`. Preview and firing both ask here, so they can't disagree. */
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

/** How many nominal instants lie in (after, until]; counting stops at `limit`, so that no gap costs seconds. */
export function countInTimetable(
  timetable: Timetable,
  after: Instant,
  until: Instant,
  limit: number,
): number {
  const [only, ...more] = timetable.triggers
  if (only?.kind === "every" && more.length === 0)
    return Math.min(limit, countIntervals(timetable, only.everyMs, after, until))
  // Read once for all steps: looking up the parsed form takes longer than a step.
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

/** A trigger in the form that is searched. */
type ReadTrigger = Cron | Extract<Trigger, { kind: "at" }>

function readTriggers(timetable: Timetable): readonly ReadTrigger[] {
  // Also where no trigger needs the zone: everything that is shown of the schedule does.
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

/** An interval begins at its anchor: nothing comes before. */
function beginningOf(cron: Cron): Instant {
  return (cron.kind === "interval" ? cron.anchor : null) ?? EARLIEST
}

/** What a trigger repeats by, in the form that search and words read. */
export function cronOf(timetable: Timetable, trigger: Exclude<Trigger, { kind: "at" }>): Cron {
  if (trigger.kind === "cron") return compiled(timetable, trigger)
  if (trigger.kind === "unreadable") throw new BelfryError("BELFRY_SCHEDULE_INVALID", trigger.why)
  // Only what was written without our checks: an interval that stands still would be searched for ever.
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
 * Parsed forms by what they depend on. A hundred thousand schedules at "0 * * * *" share one; only `H` depends on the
 * schedule. Parsing costs 20 times a search, and the engine would otherwise parse at every fire.
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
