import { checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { callback, choice } from "../core/options/option-types.ts"
import { describeThrown } from "../core/values/thrown.ts"
import { printableJson } from "../core/values/unsafe-text.ts"
import { systemClock } from "./clock.ts"

/** Takes the engine's log lines: an object of facts, then a message. A pino logger can be passed as it is. */
export interface Logger {
  debug(facts: LogFacts, message: string): void
  info(facts: LogFacts, message: string): void
  warn(facts: LogFacts, message: string): void
  error(facts: LogFacts, message: string): void
}

export interface LogFacts {
  readonly component?: string
  readonly [fact: string]: unknown
}

type Level = "debug" | "info" | "warn" | "error"
const LEVELS: readonly Level[] = ["debug", "info", "warn", "error"]

export interface JsonLoggerOptions {
  /** The lowest level that is written. Default `warn`. */
  readonly level?: Level
  /** Writes one line. Default: to standard error. */
  readonly write?: (line: string) => void
  /** For tests. */
  readonly now?: () => Date
}

export const JSON_LOGGER_OPTIONS = {
  level: choice<Level>("debug", "info", "warn", "error"),
  write: callback<(line: string) => void>(),
  now: callback<() => Date>(),
} satisfies Record<keyof JsonLoggerOptions, OptionType<unknown>>

/** Writes one JSON object per line. Default: only warnings and errors, to standard error. */
export function jsonLogger(options: JsonLoggerOptions = {}): Logger {
  const source: OptionSource = { code: "BELFRY_SCHEDULER_INVALID", subject: "jsonLogger" }
  const given = checked(options, JSON_LOGGER_OPTIONS, source)
  const { level = "warn", write = (line: string) => void process.stderr.write(line) } = given
  const { now = () => new Date(systemClock.now()) } = given
  const lowest = LEVELS.indexOf(level)
  const writer = (name: Level) => (facts: LogFacts, message: string) => {
    if (LEVELS.indexOf(name) < lowest) return
    // Logs are read on terminals, so control characters in data are escaped.
    write(`${printableJson(lineOf({ level: name, time: now().toISOString(), ...facts, message }))}\n`)
  }
  return { debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error") }
}

/** If a fact can't be written (a circular object), the line is written without facts, and the caller gets no error. */
function lineOf({ level, message, ...facts }: LogFacts): string {
  try {
    return JSON.stringify({ level, ...facts, message }, plainErrors)
  } catch (error) {
    return JSON.stringify({ level, component: String(facts.component), message, unreadable: String(error) })
  }
}

/** `JSON.stringify` writes an Error as `{}`. */
function plainErrors(_key: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message }
  return typeof value === "bigint" ? String(value) : value
}

/**
 * The same logger, but it never throws: a full disk must not look like a fault of the store or end the process. The first error
 * is emitted as a process warning.
 */
export function harmlessLogger(logger: Logger): Logger {
  let hasWarned = false
  const onThrow = (error: unknown) => {
    if (!hasWarned) process.emitWarning(`Belfry's logger threw: ${describeThrown(error)}`)
    hasWarned = true
  }
  const writer = (name: Level) => (facts: LogFacts, message: string) => {
    try {
      const written: unknown = logger[name](facts, message)
      if (written instanceof Promise) written.catch(onThrow)
    } catch (error) {
      onThrow(error)
    }
  }
  return { debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error") }
}

/** Discards every line. */
export const silentLogger: Logger = { debug() {}, info() {}, warn() {}, error() {} }
