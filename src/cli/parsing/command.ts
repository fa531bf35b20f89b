import type { ExitCode } from "../exit-codes.ts"
import { COLOUR_CHOICES } from "../printing/colour-choice.ts"
import type { Io } from "../terminal/io.ts"
import type { Flags } from "./flags.ts"

/** A command. The parser, the help, the reference page and the completion are generated from this record. */
export interface CommandSpec {
  /** As typed: `schedule list`. */
  readonly name: string
  readonly summary: string
  /** A longer description, for the help. */
  readonly details?: string
  readonly args?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** At least two. */
  readonly examples: readonly (readonly [command: string, description: string])[]
  /** `store`: an existing store. `new-store`: a store, created if missing. `nothing`: no store. */
  readonly needs: "nothing" | "store" | "new-store"
  /** The command prints records, so it has the options in `RECORD_OPTIONS`. */
  readonly prints?: "records"
  load(): Promise<Performer>
}

export interface ArgumentSpec {
  readonly name: string
  readonly description: string
  readonly isOptional?: boolean
  readonly isMany?: boolean
  /** The words that a shell offers for the argument. */
  readonly completes?: "schedules" | "runs" | "workers" | "files" | readonly string[]
}

export interface OptionSpec {
  /** `-n, --limit <count>`. A name in `<>` takes a value, `<name...>` several. */
  readonly flags: string
  readonly description: string
  readonly choices?: readonly string[]
  /** May be given several times. */
  readonly isMany?: boolean
}

/** Performs the command. Undefined means exit code 0. */
export type Performer = (call: Call) => Promise<ExitCode | undefined>

/** One call of a command. */
export interface Call {
  readonly args: readonly string[]
  readonly flags: Flags
  readonly io: Io
}

export const STORE_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--store <address>",
    description: "the store: a path, postgres://…, redis://… or memory: (BELFRY_STORE; default ./belfry.db)",
  },
  {
    flags: "--config <file>",
    description: "configuration file (BELFRY_CONFIG; default belfry.config.{ts,mjs,js,json,yaml})",
  },
  { flags: "--no-config", description: "read no configuration" },
  { flags: "--verbose", description: "print each call of the store and its duration to standard error" },
]

export const FORMATS = ["table", "wide", "tsv", "csv", "json", "jsonl", "yaml", "name"] as const

export const JSON_OUTPUT: OptionSpec = { flags: "--json", description: "print JSON; same as -o json" }
export const OUTPUT: OptionSpec = {
  flags: "-o, --output <format>",
  description: "output format (default table on a terminal, tsv in a pipe)",
  choices: FORMATS,
}
export const NO_HEADERS: OptionSpec = { flags: "--no-headers", description: "omit the header line" }

export const RECORD_OPTIONS: readonly OptionSpec[] = [
  JSON_OUTPUT,
  OUTPUT,
  {
    flags: "--fields <names>",
    description: "only these fields of each record, such as id,paused.reason (JSON and YAML only)",
  },
  { flags: "--abs", description: "print absolute times, also on a terminal" },
  NO_HEADERS,
]

export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { flags: "-q, --quiet", description: "print only errors to standard error" },
  { flags: "--color <when>", description: "when to use colours (default auto)", choices: COLOUR_CHOICES },
  { flags: "--debug", description: "print the stack trace of an error" },
]

export const IGNORE: OptionSpec = {
  flags: "--ignore <codes>",
  description: "ignore these lints, such as L04,L05",
}
export const ICS: OptionSpec = { flags: "--ics", description: "print a calendar file (iCalendar)" }
export const DRY_RUN: OptionSpec = {
  flags: "--dry-run",
  description: "show what would happen and change nothing",
}
export const YES: OptionSpec = { flags: "-y, --yes", description: "don't ask for confirmation" }
export const REASON: OptionSpec = { flags: "--reason <text>", description: "reason, stored with the change" }
export const BY: OptionSpec = {
  flags: "--by <name>",
  description: "your name, stored with the change (default you@this-host)",
}

/** All options of a command. The shared options come last. */
export function optionsOf(spec: CommandSpec): readonly OptionSpec[] {
  return [
    ...(spec.options ?? []),
    ...(spec.prints === "records" ? RECORD_OPTIONS : []),
    ...(spec.needs === "nothing" ? [] : STORE_OPTIONS),
    ...COMMON_OPTIONS,
  ]
}
