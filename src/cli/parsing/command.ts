import type { ExitCode } from "../exit-codes.ts"
import { COLOUR_CHOICES } from "../printing/colour-choice.ts"
import type { Io } from "../terminal/io.ts"
import type { Flags } from "./flags.ts"

/** A command as data: the parser, the help, the reference page and the completion are all made from it. */
export interface CommandSpec {
  /** As typed: `schedule list`. */
  readonly name: string
  readonly summary: string
  /** More than one line's worth, for the help. */
  readonly details?: string
  readonly args?: readonly ArgumentSpec[]
  readonly options?: readonly OptionSpec[]
  /** At least two. */
  readonly examples: readonly (readonly [command: string, words: string])[]
  /** `store`: one that is there. `new-store`: makes one if there is none. `nothing`: works offline. */
  readonly needs: "nothing" | "store" | "new-store"
  /** Whether it prints records, and so has `--json`, `-o` and the like. */
  readonly prints?: "records"
  load(): Promise<Performer>
}

export interface ArgumentSpec {
  readonly name: string
  readonly words: string
  readonly isOptional?: boolean
  readonly isMany?: boolean
  /** What a shell may complete it with. */
  readonly completes?: "schedules" | "runs" | "workers" | "files" | readonly string[]
}

export interface OptionSpec {
  /** `-n, --limit <count>`. A name in `<>` takes a value, `<name...>` several. */
  readonly flags: string
  readonly words: string
  readonly choices?: readonly string[]
  /** May be given several times. */
  readonly isMany?: boolean
}

/** Does the command; without an answer it is done. */
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
    words:
      "where the data is: a path, postgres://…, redis://… or memory: (BELFRY_STORE; default ./belfry.db)",
  },
  {
    flags: "--config <file>",
    words: "the configuration (BELFRY_CONFIG; belfry.config.{ts,mjs,js,json,yaml} here)",
  },
  { flags: "--no-config", words: "read no configuration" },
  { flags: "--verbose", words: "each call of the store and how long it took, on standard error" },
]

export const FORMATS = ["table", "wide", "tsv", "csv", "json", "jsonl", "yaml", "name"] as const

export const JSON_OUTPUT: OptionSpec = { flags: "--json", words: "JSON, the same as -o json" }
export const OUTPUT: OptionSpec = {
  flags: "-o, --output <format>",
  words: "the format (default table on a terminal, tsv in a pipe)",
  choices: FORMATS,
}
export const NO_HEADERS: OptionSpec = { flags: "--no-headers", words: "no line of headers" }

export const RECORD_OPTIONS: readonly OptionSpec[] = [
  JSON_OUTPUT,
  OUTPUT,
  {
    flags: "--fields <names>",
    words: "only these fields of each record, such as id,paused.reason (with JSON or YAML)",
  },
  { flags: "--abs", words: "absolute times also on a terminal" },
  NO_HEADERS,
]

export const COMMON_OPTIONS: readonly OptionSpec[] = [
  { flags: "-q, --quiet", words: "nothing on standard error but errors" },
  { flags: "--color <when>", words: "when to use colours (default auto)", choices: COLOUR_CHOICES },
  { flags: "--debug", words: "where an error came from" },
]

export const IGNORE: OptionSpec = { flags: "--ignore <codes>", words: "without these lints, such as L04,L05" }
export const ICS: OptionSpec = { flags: "--ics", words: "as a calendar file (iCalendar)" }
export const DRY_RUN: OptionSpec = { flags: "--dry-run", words: "say what would happen, change nothing" }
export const YES: OptionSpec = { flags: "-y, --yes", words: "don't ask" }
export const REASON: OptionSpec = { flags: "--reason <text>", words: "why, for the record" }
export const BY: OptionSpec = {
  flags: "--by <name>",
  words: "your name, for the record (default you@this-host)",
}

/** Every option a command takes, those it shares with others last. */
export function optionsOf(spec: CommandSpec): readonly OptionSpec[] {
  return [
    ...(spec.options ?? []),
    ...(spec.prints === "records" ? RECORD_OPTIONS : []),
    ...(spec.needs === "nothing" ? [] : STORE_OPTIONS),
    ...COMMON_OPTIONS,
  ]
}
