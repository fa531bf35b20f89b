import { durationMsOf, formatDuration, WRITE_A_DURATION } from "../time/duration.ts"
import { type Instant, instantOf, PASS_AN_INSTANT } from "../time/instant.ts"
import { shown } from "../values/shown.ts"
import { storable } from "../values/thrown.ts"
import {
  type Checked,
  checked,
  checkedPart,
  isRecordLike,
  notAllowed,
  type OptionPath,
  type OptionTable,
  type OptionType,
  type RequiredOptionType,
  refusal,
} from "./checked.ts"

/** The types of options. Each describes what it allows and converts a value to its stored form. */

export function required<Value>(kind: OptionType<Value>): RequiredOptionType<Value> {
  return { ...kind, isRequired: true }
}

/** Text that every store can keep unchanged. Its length is counted in UTF-16 units, as JavaScript does. */
export function text(length: { min: number; max: number }): OptionType<string> {
  const allowed = `text of ${length.min} to ${length.max} characters`
  return {
    allowed,
    read(value, at) {
      if (typeof value !== "string" || value.length < length.min || value.length > length.max)
        throw notAllowed(value, allowed, at)
      if (isUnstorable(value)) throw refusal(at, UNSTORABLE, { value })
      return value
    },
  }
}

/** An address that may contain a password, so no error shows it. */
export const address: OptionType<string> = {
  allowed: "the address of a server",
  read(value, at) {
    if (typeof value === "string" && value !== "" && !isUnstorable(value)) return value
    throw refusal(at, "is not the address of a server")
  },
}

/** NUL and unpaired surrogates. PostgreSQL refuses both, and other stores return something else. */
function isUnstorable(value: string): boolean {
  return value.includes("\0") || !value.isWellFormed()
}

const UNSTORABLE = "contains a NUL or an unpaired surrogate, which no store can keep"

/** Text that matches a pattern. The pattern must limit the length. */
export function textLike(pattern: RegExp, allowed: string): OptionType<string> {
  return {
    allowed,
    read(value, at) {
      if (typeof value === "string" && pattern.test(value)) return value
      throw notAllowed(value, allowed, at)
    },
  }
}

const REMARK_MAX_BYTES = 8_192

/** Free text such as a reason or a person's name. Its content is never refused: it is cut and cleaned. */
export const remark: OptionType<string> = {
  allowed: "text; cut after 8192 bytes",
  read(value, at) {
    if (typeof value === "string") return storable(value, REMARK_MAX_BYTES)
    throw notAllowed(value, "text", at)
  },
}

export function integer(min: number, max: number): OptionType<number> {
  return numberBetween(min, max, `a whole number from ${min} to ${max}`, Number.isInteger)
}

export function numberBetween(
  min: number,
  max: number,
  allowed: string,
  isFit: (value: unknown) => boolean = Number.isFinite,
): OptionType<number> {
  return {
    allowed,
    read(value, at) {
      // Minus zero becomes zero: JSON doesn't keep the sign.
      if (isFit(value) && (value as number) >= min && (value as number) <= max) return (value as number) + 0
      throw notAllowed(value, allowed, at)
    },
  }
}

export const flag: OptionType<boolean> = {
  allowed: "true or false",
  read(value, at) {
    if (typeof value === "boolean") return value
    throw notAllowed(value, flag.allowed, at)
  },
}

export function choice<Choice extends string>(...choices: readonly Choice[]): OptionType<Choice> {
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
export function duration(bounds: { min?: number; max?: number } = {}): OptionType<number> {
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

export const instant: OptionType<Instant> = {
  allowed: "an instant",
  read(value, at) {
    const read = instantOf(value)
    if (read !== null) return read
    const problem = `is ${shown(value)}, which is not an instant. ${PASS_AN_INSTANT}`
    throw refusal(at, problem, { value, code: "BELFRY_INSTANT_INVALID" })
  },
}

/** `form` follows "use" in the message for a value that isn't a list. */
export function list<Value>(
  kind: OptionType<Value>,
  { min = 0, max, form = `a list, each ${kind.allowed}` }: { min?: number; max: number; form?: string },
) {
  const sized = `a list of ${min === 0 ? "at most" : `${min} to`} ${max}`
  return {
    allowed: `${sized}, each ${kind.allowed}`,
    ...(kind.table !== undefined && { table: kind.table }),
    read(value: unknown, at: OptionPath): readonly Value[] {
      if (!Array.isArray(value)) throw notAllowed(value, form, at)
      if (value.length < min || value.length > max) throw notAllowed(value, sized, at)
      // `Array.from` visits holes, which `map` would skip.
      return Array.from(value, (each, index) =>
        kind.read(each, { source: at.source, option: `${at.option}[${index}]` }),
      )
    },
  } satisfies OptionType<readonly Value[]>
}

/** An object of nested options. */
export function record<Table extends OptionTable>(table: Table) {
  const allowed = `an object with ${Object.keys(table).join(", ")}`
  return {
    allowed,
    table,
    read(value: unknown, at: OptionPath): Checked<Table> {
      if (!isRecordLike(value)) throw notAllowed(value, allowed, at)
      return checked(value, table, at.source, at.option)
    },
  } satisfies OptionType<Checked<Table>>
}

/** Some members of an object. Others are ignored. */
export function part<Table extends OptionTable>(table: Table) {
  return {
    allowed: `an object with ${Object.keys(table).join(", ")}`,
    table,
    read(value: unknown, at: OptionPath): Checked<Table> {
      return checkedPart(value, table, at)
    },
  } satisfies OptionType<Checked<Table>>
}

/** An object of options, or the value of its main option alone: `"once"` for `{ policy: "once" }`. */
export function shortOr<Name extends string, Table extends OptionTable & Record<Name, OptionType<unknown>>>(
  name: Name,
  table: Table,
) {
  const short = table[name]
  const allowed = `${short.allowed}, or an object with ${Object.keys(table).join(", ")}`
  return {
    allowed,
    table,
    read(value: unknown, at: OptionPath): Checked<Table> {
      const { source, option } = at
      if (isRecordLike(value)) return checked(value, table, source, option)
      if (typeof value === "object") throw notAllowed(value, allowed, at)
      return checked({ [name]: short.read(value, at) }, table, source, option)
    },
  } satisfies OptionType<Checked<Table>>
}

/** An object of texts. The arguments limit the number of names, their form, and the length of each text. */
export function textsByName(about: {
  names: number
  name: RegExp
  length: number
}): OptionType<Readonly<Record<string, string>>> {
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

/** Reads a value and converts the result. */
export function mapped<Value, Made>(
  kind: OptionType<Value>,
  make: (value: Value, at: OptionPath) => Made,
): OptionType<Made> {
  return { ...kind, read: (value, at) => make(kind.read(value, at), at) }
}

/** Checks a value and returns it unchanged, for a function that reads the value itself. */
export function asGiven<Given>(kind: OptionType<unknown>): OptionType<Given> {
  return {
    ...kind,
    read(value, at) {
      kind.read(value, at)
      return value as Given
    },
  }
}

/** A value that is checked elsewhere. */
export const unread: OptionType<unknown> = {
  allowed: "the values described in its guide",
  read: (value) => value,
}

/** Not checked here: `toPayload` and the task's schema check it. */
export const payload: OptionType<unknown> = {
  allowed: "a value that the task's schema accepts, at most 1 MiB as JSON, 64 levels and 10000 keys",
  takesNull: true,
  read: (value) => value,
}

/** An object with these members, own or inherited. Their values are not read. */
export function objectWith<Value extends object>(
  members: readonly (string & keyof Value)[],
  allowed: string,
): OptionType<Value> {
  return {
    allowed,
    read(value, at) {
      const isObject = typeof value === "object" && value !== null
      if (isObject && members.every((member) => member in value)) return value as Value
      throw notAllowed(value, allowed, at)
    },
  }
}

export function callback<Value extends (...given: never[]) => unknown>(): OptionType<Value> {
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

/** A single choice, or a list of choices. */
export function oneOrMore<Choice extends string>(one: OptionType<Choice>): OptionType<readonly Choice[]> {
  const several = list(one, { min: 1, max: 20 })
  return {
    allowed: `${one.allowed}, or a list of them`,
    read: (value, at) => (Array.isArray(value) ? several.read(value, at) : [one.read(value, at)]),
  }
}
