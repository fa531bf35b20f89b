import {
  type Checked,
  checked,
  checkedPart,
  isRecordLike,
  type Kind,
  notAllowed,
  type OptionTable,
  type Place,
  type RequiredKind,
  refusal,
} from "./checked.ts"
import { durationMsOf, formatDuration, WRITE_A_DURATION } from "./duration.ts"
import { type Instant, instantOf, PASS_AN_INSTANT } from "./instant.ts"
import { shown } from "./shown.ts"
import { storable } from "./thrown.ts"

/** The kinds of options there are. Each says what it allows, and reads a value into the form it is kept in. */

export function required<Value>(kind: Kind<Value>): RequiredKind<Value> {
  return { ...kind, isRequired: true }
}

/** Text that every store keeps as it is. Its length is counted as JavaScript does. */
export function text(length: { min: number; max: number }): Kind<string> {
  const allowed = `text of ${length.min} to ${length.max} characters`
  return {
    allowed,
    read(value, at) {
      if (typeof value !== "string" || value.length < length.min || value.length > length.max)
        throw notAllowed(value, allowed, at)
      if (isUnkept(value)) throw refusal(at, UNKEPT, { value })
      return value
    },
  }
}

/** An address that may hold a password: no error shows it. */
export const address: Kind<string> = {
  allowed: "the address of a server",
  read(value, at) {
    if (typeof value === "string" && value !== "" && !isUnkept(value)) return value
    throw refusal(at, "is not the address of a server")
  },
}

/** PostgreSQL refuses both, and elsewhere they come back as something else. */
function isUnkept(value: string): boolean {
  return value.includes("\0") || !value.isWellFormed()
}

const UNKEPT = "holds a NUL or half of a character, which no store keeps"

/** Text of a pattern; the pattern has to bound its length. */
export function textLike(pattern: RegExp, allowed: string): Kind<string> {
  return {
    allowed,
    read(value, at) {
      if (typeof value === "string" && pattern.test(value)) return value
      throw notAllowed(value, allowed, at)
    },
  }
}

const REMARK_MAX_BYTES = 8_192

/** What people type to say who and why. It is never refused for what it holds: it is cut and cleaned. */
export const remark: Kind<string> = {
  allowed: "text; what is beyond 8192 bytes is cut",
  read(value, at) {
    if (typeof value === "string") return storable(value, REMARK_MAX_BYTES)
    throw notAllowed(value, "text", at)
  },
}

export function integer(min: number, max: number): Kind<number> {
  return numberBetween(min, max, `a whole number from ${min} to ${max}`, Number.isInteger)
}

export function numberBetween(
  min: number,
  max: number,
  allowed: string,
  isFit: (value: unknown) => boolean = Number.isFinite,
): Kind<number> {
  return {
    allowed,
    read(value, at) {
      // Minus zero is zero: JSON doesn't keep the sign.
      if (isFit(value) && (value as number) >= min && (value as number) <= max) return (value as number) + 0
      throw notAllowed(value, allowed, at)
    },
  }
}

export const flag: Kind<boolean> = {
  allowed: "true or false",
  read(value, at) {
    if (typeof value === "boolean") return value
    throw notAllowed(value, flag.allowed, at)
  },
}

export function choice<Choice extends string>(...choices: readonly Choice[]): Kind<Choice> {
  const allowed = listed(choices.map((each) => `"${each}"`))
  return {
    allowed,
    read(value, at) {
      const known = choices.find((each) => each === value)
      if (known !== undefined) return known
      throw notAllowed(value, allowed, at)
    },
  }
}

/** In milliseconds. */
export function duration(bounds: { min?: number; max?: number } = {}): Kind<number> {
  const allowed = ["a duration", boundsInWords(bounds)].join("")
  return {
    allowed,
    read(value, at) {
      const ms = durationMsOf(value)
      if (ms === null) {
        const problem = `is ${shown(value)}, which is not a duration. ${WRITE_A_DURATION}`
        throw refusal(at, problem, { value, code: "BELFRY_DURATION_INVALID" })
      }
      if (ms >= (bounds.min ?? 0) && ms <= (bounds.max ?? ms)) return ms
      throw notAllowed(value, allowed, at)
    },
  }
}

function boundsInWords({ min, max }: { min?: number; max?: number }): string {
  if (min !== undefined && max !== undefined) return ` from ${formatDuration(min)} to ${formatDuration(max)}`
  if (min !== undefined) return ` of at least ${formatDuration(min)}`
  return max === undefined ? "" : ` of at most ${formatDuration(max)}`
}

export const instant: Kind<Instant> = {
  allowed: "an instant",
  read(value, at) {
    const read = instantOf(value)
    if (read !== null) return read
    const problem = `is ${shown(value)}, which is not an instant. ${PASS_AN_INSTANT}`
    throw refusal(at, problem, { value, code: "BELFRY_INSTANT_INVALID" })
  },
}

export function list<Value>(kind: Kind<Value>, { min = 0, max }: { min?: number; max: number }) {
  const allowed = `a list of ${min} to ${max}, each ${kind.allowed}`
  return {
    allowed,
    ...(kind.table !== undefined && { table: kind.table }),
    read(value: unknown, at: Place): readonly Value[] {
      if (!Array.isArray(value) || value.length < min || value.length > max)
        throw notAllowed(value, `a list of ${min} to ${max}`, at)
      // By index: `map` would pass over holes.
      return Array.from(value, (each, index) =>
        kind.read(each, { source: at.source, option: `${at.option}[${index}]` }),
      )
    },
  } satisfies Kind<readonly Value[]>
}

/** Options inside an option. */
export function record<Table extends OptionTable>(table: Table) {
  const allowed = `an object with ${Object.keys(table).join(", ")}`
  return {
    allowed,
    table,
    read(value: unknown, at: Place): Checked<Table> {
      if (!isRecordLike(value)) throw notAllowed(value, allowed, at)
      return checked(value, table, at.source, at.option)
    },
  } satisfies Kind<Checked<Table>>
}

/** Of an object that holds more: only these are read. */
export function part<Table extends OptionTable>(table: Table) {
  return {
    allowed: `an object with ${Object.keys(table).join(", ")}`,
    table,
    read(value: unknown, at: Place): Checked<Table> {
      return checkedPart(value, table, at)
    },
  } satisfies Kind<Checked<Table>>
}

/** An object of options, or only its first by itself: `"once"` for `{ policy: "once" }`. */
export function shortOr<Name extends string, Table extends OptionTable & Record<Name, Kind<unknown>>>(
  name: Name,
  table: Table,
) {
  const short = table[name]
  const allowed = `${short.allowed}, or an object with ${Object.keys(table).join(", ")}`
  return {
    allowed,
    table,
    read(value: unknown, at: Place): Checked<Table> {
      const { source, option } = at
      if (isRecordLike(value)) return checked(value, table, source, option)
      if (typeof value === "object") throw notAllowed(value, allowed, at)
      return checked({ [name]: short.read(value, at) }, table, source, option)
    },
  } satisfies Kind<Checked<Table>>
}

/** An object of texts: at most so many, each with a name of that form and so many characters. */
export function textsByName(about: {
  names: number
  name: RegExp
  length: number
}): Kind<Readonly<Record<string, string>>> {
  const allowed = `an object of at most ${about.names} texts of up to ${about.length} characters`
  return {
    allowed,
    read(value, at) {
      if (typeof value !== "object" || value === null || Array.isArray(value))
        throw refusal(at, `is ${shown(value)}; use ${allowed}`)
      const entries = Object.entries(value)
      if (entries.length > about.names) throw refusal(at, `has ${entries.length} names; use ${allowed}`)
      for (const [name, given] of entries) {
        if (!about.name.test(name))
          throw refusal(at, `has the name ${shown(name)}; use letters, digits and "_.:/-"`)
        text({ min: 0, max: about.length }).read(given, { ...at, option: `${at.option}.${name}` })
      }
      return Object.fromEntries(entries) as Record<string, string>
    },
  }
}

/** Read, and then made into something else. */
export function made<Value, Made>(kind: Kind<Value>, make: (value: Value, at: Place) => Made): Kind<Made> {
  return { ...kind, read: (value, at) => make(kind.read(value, at), at) }
}

/** Checked, and passed on as it was given, to a function that reads it itself. */
export function asGiven<Given>(kind: Kind<unknown>): Kind<Given> {
  return {
    ...kind,
    read(value, at) {
      kind.read(value, at)
      return value as Given
    },
  }
}

/** Checked elsewhere. */
export const unread: Kind<unknown> = { allowed: "what its guide says", read: (value) => value }

/** Opaque here: `toPayload` and the task's schema check it. */
export const payload: Kind<unknown> = {
  allowed: "what the task's schema takes, at most 1 MiB as JSON, 64 levels and 10000 keys",
  takesNull: true,
  read: (value) => value,
}

/** An object that has these members, of its own or of its class; none of them is touched. */
export function objectWith<Value extends object>(
  members: readonly (string & keyof Value)[],
  allowed: string,
): Kind<Value> {
  return {
    allowed,
    read(value, at) {
      const isObject = typeof value === "object" && value !== null
      if (isObject && members.every((member) => member in value)) return value as Value
      throw notAllowed(value, allowed, at)
    },
  }
}

export function callback<Value extends (...given: never[]) => unknown>(): Kind<Value> {
  return {
    allowed: "a function",
    read(value, at) {
      if (typeof value === "function") return value as Value
      throw notAllowed(value, "a function", at)
    },
  }
}

/** `"a", "b" or "c"` */
function listed(words: readonly string[]): string {
  const [last, ...others] = words.toReversed()
  return others.length === 0 ? last! : `${others.toReversed().join(", ")} or ${last}`
}

/** One choice by itself, or a list of them. */
export function oneOrMore<Choice extends string>(one: Kind<Choice>): Kind<readonly Choice[]> {
  const several = list(one, { min: 1, max: 20 })
  return {
    allowed: `${one.allowed}, or a list of them`,
    read: (value, at) => (Array.isArray(value) ? several.read(value, at) : [one.read(value, at)]),
  }
}
