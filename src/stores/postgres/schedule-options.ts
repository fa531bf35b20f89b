import { checked, type OptionSource } from "../../core/checked.ts"
import { POLICY_OPTIONS, type Policies, policiesOf } from "../../core/definition.ts"
import { BelfryError } from "../../core/errors.ts"
import type { Json } from "../../core/json.ts"
import { isRecord } from "../../core/readable.ts"
import { shown } from "../../core/shown.ts"
import type { Trigger } from "../../core/timetable.ts"
import { jsonOf } from "./rows.ts"

/** The column `options`: policies in the words of `schedules.create`, whoever wrote them. What isn't named is as usual. */
export interface ReadOptions {
  readonly policies: Policies
  /** What stands beside the triggers if some options can't be read. Those that can be are in the policies. */
  readonly problem: Trigger | null
}

type Written = { readonly [option: string]: Json }

/** By their text: nearly all schedules have the same few, and a fire reads them each time. */
const known = new Map<string, ReadOptions>()
const KNOWN_MAX = 10_000
/** A longer text isn't kept: what is known stays below 30 MB, whatever is written. */
const KNOWN_TEXT_MAX = 2_000

export function readOptions(text: string): ReadOptions {
  const before = known.get(text)
  if (before !== undefined) return before
  const written = jsonOf<Json | undefined>(text)
  const read = isRecord(written) ? understood(written as Written) : noOptions(text)
  if (text.length > KNOWN_TEXT_MAX) return read
  if (known.size >= KNOWN_MAX) known.clear()
  known.set(text, read)
  return read
}

/** The table's constraint refuses it, but a restored dump or a superuser may have left it out. */
function noOptions(text: string): ReadOptions {
  const why = `options is ${shown(text)}; it must be an object that isn't nested deep.`
  return { policies: completed({}), problem: { kind: "unreadable", why } }
}

function understood(written: Written): ReadOptions {
  const faults = new Map<string, string>()
  // Each turn leaves out what is wrong by itself, or else what is wrong beside another option, until the rest can be read.
  while (true) {
    // Null is the same as not given.
    const readable = Object.entries(written).filter(([name, value]) => value !== null && !faults.has(name))
    try {
      const policies = completed(Object.fromEntries(readable))
      return { policies, problem: faults.size === 0 ? null : problemOf(written, faults) }
    } catch (error) {
      if (!(error instanceof BelfryError)) throw error
      for (const [name, why] of faultsIn(readable, error)) faults.set(name, why)
    }
  }
}

const SOURCE: OptionSource = { code: "BELFRY_SCHEDULE_INVALID", subject: "options" }

function completed(options: Written): Policies {
  return policiesOf(checked(options, POLICY_OPTIONS, SOURCE), SOURCE)
}

type Entries = readonly (readonly [option: string, value: Json])[]

/** More than there are. Each that isn't one is compared with all that are. */
const OPTIONS_MAX = 50

/** Never none: each option that can't be read by itself, or the one that is refused beside the others. */
function faultsIn(
  options: Entries,
  together: BelfryError,
): readonly (readonly [name: string, why: string])[] {
  const all = (why: string) => options.map(([name]) => [name, why] as const)
  if (options.length > OPTIONS_MAX)
    return all(`options has ${options.length} names; there are fewer options.`)
  const faults = options.flatMap(([name, value]) => {
    const why = faultOf(name, value)
    return why === null ? [] : [[name, why] as const]
  })
  if (faults.length > 0) return faults
  const named = options.filter(([name]) => name === together.details["option"])
  return named.length === 0 ? all(together.message) : named.map(([name]) => [name, together.message])
}

function faultOf(name: string, value: Json): string | null {
  if (Object.hasOwn(ELSEWHERE, name)) return `options has ${name}; ${ELSEWHERE[name]}.`
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

function problemOf(written: Written, faults: ReadonlyMap<string, string>): Trigger {
  const why = [...new Set(faults.values())].join(" ")
  return { kind: "unreadable", why, options: { written, unread: [...faults.keys()] } }
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
