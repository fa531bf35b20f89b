import { BelfryError, type ErrorCode } from "./errors.ts"
import { plain, shown } from "./shown.ts"

/**
 * The one way in for options. Each option is declared once, in a table: its name and its kind. A name that isn't in the table, a
 * value of another kind and a value out of range are refused alike: with the option's name, the value, and what is allowed.
 */
export type OptionTable = Readonly<Record<string, Kind<unknown>>>

/** What an option may be. */
export interface Kind<Value> {
  /** Fits after "use": `a whole number from 1 to 50`. The reference lists these words. */
  readonly allowed: string
  /** Whether the option has to be given. */
  readonly isRequired?: boolean
  /** Null is a value of its own, and not the same as not given: a payload. */
  readonly takesNull?: boolean
  /** The options inside, if the value is an object of options. */
  readonly table?: OptionTable
  /** The value in the form it is kept in. Throws a refusal. */
  read(value: unknown, at: Place): Value
}

export interface RequiredKind<Value> extends Kind<Value> {
  readonly isRequired: true
}

/** Where options come in: what an error says of it. */
export interface OptionSource {
  readonly code: ErrorCode
  /** How the message begins: `Schedule "report"`, or the name of the function that was called. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
}

/** One option at one door, such as `catchUp.limit`. */
export interface Place {
  readonly source: OptionSource
  readonly option: string
}

/** What is read by a table. An option that isn't given is undefined. */
export type Checked<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends RequiredKind<infer Value>
    ? Value
    : Table[Name] extends Kind<infer Value>
      ? Value | undefined
      : never
}

/** Reads options by their table. Null is the same as not given, for an option and for all of them. */
export function checked<Table extends OptionTable>(
  given: unknown,
  table: Table,
  source: OptionSource,
  within = "",
): Checked<Table> {
  const prefix = within === "" ? "" : `${within}.`
  const { keys, values } = valuesOf(given, table, { source, option: within === "" ? "options" : within })
  const unknown = keys.find((key) => !Object.hasOwn(table, key))
  if (unknown !== undefined) throw unknownOption(unknown, table, { source, option: `${prefix}${unknown}` })
  return readAll(values, table, source, prefix)
}

/** As `checked`, for objects that hold more than is asked for: a run or a log line, given to say where to read on. */
export function checkedPart<Table extends OptionTable>(
  given: unknown,
  table: Table,
  at: Place,
): Checked<Table> {
  return readAll(valuesOf(given, table, at).values, table, at.source, `${at.option}.`)
}

/** One value that isn't in an object: an argument of a function. Null is the same as not given. */
export function checkedValue<Value>(value: unknown, kind: RequiredKind<Value>, at: Place): Value
export function checkedValue<Value>(value: unknown, kind: Kind<Value>, at: Place): Value | undefined
export function checkedValue<Value>(value: unknown, kind: Kind<Value>, at: Place): Value | undefined {
  if (value !== undefined && (value !== null || kind.takesNull)) return readSafely(value, kind, at)
  if (kind.isRequired) throw notAllowed(value, kind.allowed, at)
  return undefined
}

/** A proxy or a getter may throw anything at whoever looks at it. */
function readSafely<Value>(value: unknown, kind: Kind<Value>, at: Place): Value {
  try {
    return kind.read(value, at)
  } catch (cause) {
    if (cause instanceof BelfryError) throw cause
    throw refusal(at, `can't be read; use ${kind.allowed}`, { value, cause })
  }
}

function readAll<Table extends OptionTable>(
  values: Values,
  table: Table,
  source: OptionSource,
  prefix: string,
): Checked<Table> {
  const read = Object.entries(table).map(([name, kind]) => [
    name,
    checkedValue(values.get(name), kind, { source, option: `${prefix}${name}` }),
  ])
  return Object.fromEntries(read) as Checked<Table>
}

type Values = ReadonlyMap<string, unknown>

/** Each getter is read once, and nothing is merged: a key such as `__proto__` is a key like any other. */
function valuesOf(
  given: unknown,
  table: OptionTable,
  at: Place,
): { readonly keys: readonly string[]; readonly values: Values } {
  if (given === undefined || given === null) return { keys: [], values: new Map() }
  try {
    if (isRecordLike(given)) {
      const values = Object.keys(table).map(
        (name) => [name, (given as Record<string, unknown>)[name]] as const,
      )
      return { keys: Object.keys(given), values: new Map(values) }
    }
  } catch (cause) {
    throw refusal(at, "can't be read", { value: given, cause })
  }
  throw notAllowed(given, "an object", at)
}

/**
 * Whether an object may hold options. A list, a date, a map or a promise has none: it was passed by mistake, and would be taken for
 * an object without any. An imported module may.
 */
export function isRecordLike(value: unknown): value is Readonly<Record<string, unknown>> {
  const tag = Object.prototype.toString.call(value)
  return tag === "[object Object]" || tag === "[object Module]"
}

/** A copy of an object whose members are passed on. Each getter is read once; null is the same as not given. */
export function copied<Given extends object>(given: Given | null | undefined, at: Place): Given {
  if (given === undefined || given === null) return {} as Given
  try {
    if (isRecordLike(given)) return { ...given }
  } catch (cause) {
    throw refusal(at, "can't be read", { value: given, cause })
  }
  throw notAllowed(given, "an object", at)
}

/** A misspelt option would otherwise be a policy that silently isn't there. */
function unknownOption(name: string, table: OptionTable, at: Place): BelfryError {
  const names = Object.keys(table)
  const near = nearest(name, names)
  const help = near === null ? `Known are ${names.join(", ")}` : `Did you mean ${near}?`
  const option = shortName(at.option)
  const text = `${at.source.subject}: ${option} is not an option. ${help}${near === null ? "." : ""}`
  return new BelfryError(at.source.code, text, { details: { ...at.source.details, option } })
}

export function notAllowed(value: unknown, allowed: string, at: Place): BelfryError {
  return refusal(at, `is ${shown(value)}; use ${allowed}`, { value })
}

export function refusal(
  { source, option }: Place,
  problem: string,
  about: { value?: unknown; cause?: unknown; code?: ErrorCode } = {},
): BelfryError {
  const details = {
    ...source.details,
    option,
    ...("value" in about && { value: plain(about.value) }),
  }
  return new BelfryError(about.code ?? source.code, `${source.subject}: ${option} ${problem}.`, {
    details,
    cause: about.cause,
  })
}

/** Adds the option to an error that knows only its value: what a parser says of a cron or a zone. */
export function atOption<Value>({ source, option }: Place, read: () => Value): Value {
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof BelfryError)) throw cause
    const details = { ...source.details, ...cause.details, option }
    throw new BelfryError(cause.code, `${source.subject}: ${option}: ${cause.message}`, { details, cause })
  }
}

const NAME_MAX = 60

function shortName(name: string): string {
  const plain = /^[\w.[\]-]+$/.test(name) ? name : shown(name)
  return plain.length > NAME_MAX ? `${plain.slice(0, NAME_MAX)}…` : plain
}

/** The known name that a misspelt one most likely stands for; null if none is close. */
function nearest(name: string, known: readonly string[]): string | null {
  if (name.length > NAME_MAX) return null
  const most = Math.max(1, Math.floor(name.length / 3))
  const [best] = known
    .map((candidate) => ({ candidate, edits: editsBetween(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ edits }) => edits <= most)
    .sort((a, b) => a.edits - b.edits)
  return best?.candidate ?? null
}

/** Levenshtein's distance: how many characters have to be added, removed or replaced. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}

/** Refuses further arguments: an option passed there would be ignored without a word. `rule` says what is accepted. */
export function checkNothingElse(others: readonly unknown[], rule: string): void {
  if (others.every((other) => other === undefined)) return
  throw new BelfryError("BELFRY_STORE_UNFIT", `${rule}.`, { details: { option: "options" } })
}
