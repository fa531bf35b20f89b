import { BelfryError, type ErrorCode } from "../errors.ts"
import { nearest } from "../values/nearest.ts"
import { plain, shown } from "../values/shown.ts"
import { foreignName } from "./foreign-names.ts"

/**
 * Checks all options that users pass. Each option is declared once, in a table: its name and its type. An unknown name, a value
 * of another type and a value out of range are refused with the option's name, the value, and what is allowed.
 */
export type OptionTable = Readonly<Record<string, OptionType<unknown>>>

/** The values that an option allows. */
export interface OptionType<Value> {
  /** Follows "use" in messages: `a whole number from 1 to 50`. The API reference lists this text. */
  readonly allowed: string
  /** Whether the option must be given. */
  readonly isRequired?: boolean
  /** Whether null is a value, as for a payload. Otherwise null means that the option is not given. */
  readonly takesNull?: boolean
  /** The nested options, if the value is an object of options. */
  readonly table?: OptionTable
  /** Converts the value to its stored form. Throws a refusal. */
  read(value: unknown, at: OptionPath): Value
}

export interface RequiredOptionType<Value> extends OptionType<Value> {
  readonly isRequired: true
}

/** Where options come from, for error messages. */
export interface OptionSource {
  readonly code: ErrorCode
  /** How the message begins: `Schedule "report"`, or the name of the function that was called. */
  readonly subject: string
  readonly details?: Readonly<Record<string, unknown>>
  /** What to do with an unknown option that belongs elsewhere. Undefined: it doesn't. */
  elsewhere?(unknown: string): string | undefined
}

/** One option of a source, such as `catchUp.limit`. */
export interface OptionPath {
  readonly source: OptionSource
  readonly option: string
}

/** The options read by a table. An option that is not given is undefined. */
export type Checked<Table extends OptionTable> = {
  readonly [Name in keyof Table]: Table[Name] extends RequiredOptionType<infer Value>
    ? Value
    : Table[Name] extends OptionType<infer Value>
      ? Value | undefined
      : never
}

/** Reads options by their table. Null means not given, both for one option and for the whole object. */
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

/** Like `checked`, but other keys are allowed: for a run or a log line that marks where to continue reading. */
export function checkedPart<Table extends OptionTable>(
  given: unknown,
  table: Table,
  at: OptionPath,
): Checked<Table> {
  return readAll(valuesOf(given, table, at).values, table, at.source, `${at.option}.`)
}

/** Checks a single value, such as an argument of a function. Null means not given. */
export function checkedValue<Value>(value: unknown, kind: RequiredOptionType<Value>, at: OptionPath): Value
export function checkedValue<Value>(
  value: unknown,
  kind: OptionType<Value>,
  at: OptionPath,
): Value | undefined
export function checkedValue<Value>(
  value: unknown,
  kind: OptionType<Value>,
  at: OptionPath,
): Value | undefined {
  if (isGiven(value, kind)) return readSafely(value, kind, at)
  if (kind.isRequired) throw notAllowed(value, kind.allowed, at)
  return undefined
}

function isGiven(value: unknown, kind: OptionType<unknown>): boolean {
  return value !== undefined && (value !== null || kind.takesNull === true)
}

/** Reading a proxy or a getter may throw anything. */
function readSafely<Value>(value: unknown, kind: OptionType<Value>, at: OptionPath): Value {
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
  const read: Record<string, unknown> = {}
  // A loop instead of entries and maps: `enqueueMany` reads the options of 100,000 runs here.
  for (const name of namesIn(table)) {
    const kind = table[name]!
    const value = values[name]
    const isLeftOut = !isGiven(value, kind) && kind.isRequired !== true
    read[name] = isLeftOut ? undefined : checkedValue(value, kind, { source, option: `${prefix}${name}` })
  }
  return read as Checked<Table>
}

const NAMES = new WeakMap<OptionTable, readonly string[]>()

function namesIn(table: OptionTable): readonly string[] {
  let names = NAMES.get(table)
  if (names === undefined) {
    names = Object.keys(table)
    NAMES.set(table, names)
  }
  return names
}

type Values = Readonly<Record<string, unknown>>

const NO_VALUES: Values = {}

/** Reads each getter once, and only names of the table: a key such as `__proto__` is never copied. */
function valuesOf(
  given: unknown,
  table: OptionTable,
  at: OptionPath,
): { readonly keys: readonly string[]; readonly values: Values } {
  if (given === undefined || given === null) return { keys: [], values: NO_VALUES }
  try {
    if (isRecordLike(given)) {
      const values: Record<string, unknown> = {}
      for (const name of namesIn(table)) values[name] = given[name]
      return { keys: Object.keys(given), values }
    }
  } catch (cause) {
    throw refusal(at, "can't be read", { value: given, cause })
  }
  throw notAllowed(given, "an object", at)
}

/**
 * Whether an object may hold options. A list, a date, a map or a promise was passed by mistake, and would read as an object
 * without options. An imported module may hold options.
 */
export function isRecordLike(value: unknown): value is Readonly<Record<string, unknown>> {
  const tag = Object.prototype.toString.call(value)
  return tag === "[object Object]" || tag === "[object Module]"
}

/** A shallow copy of an object. Each getter is read once. Null means not given. */
export function copied<Given extends object>(given: Given | null | undefined, at: OptionPath): Given {
  if (given === undefined || given === null) return {} as Given
  try {
    if (isRecordLike(given)) return { ...given }
  } catch (cause) {
    throw refusal(at, "can't be read", { value: given, cause })
  }
  throw notAllowed(given, "an object", at)
}

/** Without this error, a misspelt policy would silently not apply. */
function unknownOption(name: string, table: OptionTable, at: OptionPath): BelfryError {
  const names = Object.keys(table)
  const option = shortName(at.option)
  const elsewhere = at.option === name ? at.source.elsewhere?.(name) : undefined
  const near = foreignName(name, names) ?? nearest(name, names)
  const help = near === null ? `Known options: ${names.join(", ")}.` : `Did you mean ${near}?`
  const text = `${at.source.subject}: ${option} is not an option. ${elsewhere ?? help}`
  return new BelfryError(at.source.code, text, { details: { ...at.source.details, option } })
}

export function notAllowed(value: unknown, allowed: string, at: OptionPath): BelfryError {
  return refusal(at, `is ${shown(value)}; use ${allowed}`, { value })
}

export function refusal(
  { source, option }: OptionPath,
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

/** Adds the option's name to an error of a parser (cron, time zone), which knows only the value. */
export function atOption<Value>({ source, option }: OptionPath, read: () => Value): Value {
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

/** Refuses further arguments, because options passed there would be silently ignored. `rule` says what is accepted. */
export function checkNothingElse(others: readonly unknown[], rule: string): void {
  if (others.every((other) => other === undefined)) return
  throw new BelfryError("BELFRY_STORE_UNFIT", `${rule}.`, { details: { option: "options" } })
}
