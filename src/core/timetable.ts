import type { Cron, DstPolicy } from "./cron/cron.ts"
import { parseCron } from "./cron/parse.ts"
import { nextOccurrence, previousOccurrence } from "./cron/search.ts"
import type { Instant } from "./instant.ts"

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

/** The first nominal instant strictly after `after`. Preview and firing both ask here, so they can't disagree. */
export function nextInTimetable(timetable: Timetable, after: Instant): Instant | null {
  const from = timetable.startsAt === null ? after : Math.max(after, timetable.startsAt - 1)
  let next: Instant | null = null
  for (const trigger of timetable.triggers) {
    const at = nextOf(timetable, trigger, from)
    if (at !== null && (next === null || at < next)) next = at
  }
  return next !== null && timetable.endsAt !== null && next > timetable.endsAt ? null : next
}

/** The last nominal instant strictly before `before`. */
export function previousInTimetable(timetable: Timetable, before: Instant): Instant | null {
  const from = timetable.endsAt === null ? before : Math.min(before, timetable.endsAt + 1)
  let previous: Instant | null = null
  for (const trigger of timetable.triggers) {
    const at = previousOf(timetable, trigger, from)
    if (at !== null && (previous === null || at > previous)) previous = at
  }
  return previous !== null && timetable.startsAt !== null && previous < timetable.startsAt ? null : previous
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
    return Math.min(limit, countIntervals(timetable, only, after, until))
  let count = 0
  for (let at = nextInTimetable(timetable, after); at !== null && at <= until && count < limit; count++) {
    at = nextInTimetable(timetable, at)
  }
  return count
}

function countIntervals(timetable: Timetable, trigger: Trigger, after: Instant, until: Instant): number {
  const first = nextInTimetable(timetable, after)
  const last = previousInTimetable(timetable, until + 1)
  if (trigger.kind !== "every" || first === null || last === null || last < first) return 0
  return Math.round((last - first) / trigger.everyMs) + 1
}

function nextOf(timetable: Timetable, trigger: Trigger, after: Instant): Instant | null {
  switch (trigger.kind) {
    case "cron":
      return nextOccurrence(compiled(timetable, trigger), after)
    case "every":
      return nextOccurrence(interval(timetable, trigger), after)
    case "at":
      return trigger.at > after ? trigger.at : null
  }
}

function previousOf(timetable: Timetable, trigger: Trigger, before: Instant): Instant | null {
  switch (trigger.kind) {
    case "cron":
      return previousOccurrence(compiled(timetable, trigger), before)
    case "every": {
      // An interval begins at its anchor: nothing came before.
      const cron = interval(timetable, trigger)
      const at = previousOccurrence(cron, before)
      return at !== null && at >= cron.anchor ? at : null
    }
    case "at":
      return trigger.at < before ? trigger.at : null
  }
}

function interval(timetable: Timetable, trigger: Extract<Trigger, { kind: "every" }>) {
  const anchor = trigger.anchor ?? timetable.startsAt ?? timetable.anchor
  return { kind: "interval", expression: "", everyMs: trigger.everyMs, anchor } as const
}

/**
 * Parsed forms by what they depend on. A hundred thousand schedules at "0 * * * *" share one; only `H` depends on the
 * schedule. Parsing costs 20 times a search, and the engine would otherwise parse at every fire.
 */
const parsed = new Map<string, Cron>()
const PARSED_MAX = 10_000

function compiled(timetable: Timetable, trigger: Extract<Trigger, { kind: "cron" }>): Cron {
  const isSeeded = /h/i.test(trigger.cron)
  const isInterval = trigger.cron.trimStart().startsWith("@e")
  const { timezone, dst } = timetable
  const key = `${trigger.cron}\n${timezone}\n${dst.gap}${dst.overlap}${trigger.dayMatch}\n${isSeeded ? timetable.id : ""}\n${isInterval ? timetable.anchor : ""}`
  const known = parsed.get(key)
  if (known) return known
  const cron = parseCron(trigger.cron, {
    timezone,
    dst,
    dayMatch: trigger.dayMatch,
    seed: timetable.id,
    anchor: timetable.startsAt ?? timetable.anchor,
  })
  if (parsed.size >= PARSED_MAX) parsed.clear()
  parsed.set(key, cron)
  return cron
}
