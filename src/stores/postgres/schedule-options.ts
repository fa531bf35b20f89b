import { BelfryError } from "../../core/errors.ts"
import { checked, type OptionSource } from "../../core/options/checked.ts"
import { POLICY_OPTIONS, type Policies, policiesOf } from "../../core/options/definition.ts"
import type { Trigger } from "../../core/schedule/timetable.ts"
import type { Json } from "../../core/values/json.ts"
import { isJsonObject } from "../../core/values/json.ts"
import { shown } from "../../core/values/shown.ts"
import { jsonOf } from "./rows.ts"

/**
 * The column `options`: policies with the names of `schedules.create`, written by Belfry or by SQL. Missing ones have defaults.
 */
export interface ReadOptions {
  readonly policies: Policies
  /**
   * An extra trigger that names the options that cannot be read. The readable options are in `policies`. Null: all are
   * readable.
   */
  readonly problem: Trigger | null
}

type OptionValues = { readonly [option: string]: Json }

/** Parsed options by their text: nearly all schedules share a few texts, and every fire reads them. */
const cache = new Map<string, ReadOptions>()
const CACHE_MAX = 10_000
/** Longer texts are not cached, so the cache stays below 30 MB. */
const CACHED_TEXT_MAX = 2_000

export function readOptions(text: string): ReadOptions {
  const cached = cache.get(text)
  if (cached !== undefined) return cached
  const written = jsonOf<Json | undefined>(text)
  const read = isJsonObject(written) ? readPolicies(written as OptionValues) : unreadableOptions(text)
  if (text.length > CACHED_TEXT_MAX) return read
  if (cache.size >= CACHE_MAX) cache.clear()
  cache.set(text, read)
  return read
}

/** The table's constraint forbids this, but a restored dump or a superuser may have removed the constraint. */
function unreadableOptions(text: string): ReadOptions {
  const why = `options is ${shown(text)}; it must be an object without deep nesting.`
  return { policies: policiesFrom({}), problem: { kind: "unreadable", why } }
}

function readPolicies(written: OptionValues): ReadOptions {
  const faults = new Map<string, string>()
  // Each pass drops options that are invalid alone, or else one that conflicts with another, until the rest can be read.
  while (true) {
    // Null counts as not given.
    const readable = Object.entries(written).filter(([name, value]) => value !== null && !faults.has(name))
    try {
      const policies = policiesFrom(Object.fromEntries(readable))
      return { policies, problem: faults.size === 0 ? null : problemOf(written, faults) }
    } catch (error) {
      if (!(error instanceof BelfryError)) throw error
      for (const [name, why] of faultsIn(readable, error)) faults.set(name, why)
    }
  }
}

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULE_INVALID", subject: "options" }

function policiesFrom(options: OptionValues): Policies {
  return policiesOf(checked(options, POLICY_OPTIONS, SOURCE), SOURCE)
}

type Entries = readonly (readonly [option: string, value: Json])[]

/** More than the number of options. A limit is needed because each unknown name is compared with every option. */
const OPTIONS_MAX = 50

/** Returns at least one: every option that is invalid alone, or else the one that conflicts with the others. */
function faultsIn(
  options: Entries,
  together: BelfryError,
): readonly (readonly [name: string, why: string])[] {
  const all = (why: string) => options.map(([name]) => [name, why] as const)
  if (options.length > OPTIONS_MAX)
    return all(`options has ${options.length} names, more than there are options.`)
  const faults = options.flatMap(([name, value]) => {
    const why = faultOf(name, value)
    return why === null ? [] : [[name, why] as const]
  })
  if (faults.length > 0) return faults
  const named = options.filter(([name]) => name === together.details["option"])
  return named.length === 0 ? all(together.message) : named.map(([name]) => [name, together.message])
}

function faultOf(name: string, value: Json): string | null {
  if (Object.hasOwn(IN_COLUMNS, name)) return `options has ${name}; ${IN_COLUMNS[name]}.`
  try {
    checked({ [name]: value }, POLICY_OPTIONS, SOURCE)
    return null
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    return Object.hasOwn(POLICY_OPTIONS, name)
      ? error.message
      : `${error.message} Its value is ${shown(value)}.`
  }
}

function problemOf(written: OptionValues, faults: ReadonlyMap<string, string>): Trigger {
  const why = [...new Set(faults.values())].join(" ")
  return { kind: "unreadable", why, options: { written, unread: [...faults.keys()] } }
}

const IN_CRON = 'write it into the column cron, an interval as "@every 90s"'

/** Settings that have columns of their own. In `options` they would be ignored silently, so they are refused. */
const IN_COLUMNS: Readonly<Record<string, string>> = {
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
