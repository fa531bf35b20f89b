import { COMMANDS, GROUPS } from "../commands.ts"
import { type ArgumentSpec, type CommandSpec, type OptionSpec, optionsOf } from "../parsing/command.ts"

/** The words that can be completed at each place of the command line. The same for every shell. */

/** Fixed words, a kind of id, or file names. */
export type Words = readonly string[] | IdKind | "files"

export type IdKind = "schedules" | "runs" | "workers"

/**
 * The commands that list ids. They read no configuration, because the Tab key must not run foreign code in the current folder.
 * So the store is BELFRY_STORE, or belfry.db in this folder.
 */
export const ID_COMMANDS: Readonly<Record<IdKind, string>> = {
  schedules: "belfry schedule list -o name -q --no-config",
  runs: "belfry run list -n 50 -o name -q --no-config",
  workers: "belfry worker list -o name -q --no-config",
}

/** Ids with other characters are not offered, because those may be special to the shell. */
export const OFFERED_ID = "^[A-Za-z0-9_][A-Za-z0-9_.:@/+-]*$"

export function firstWords(): readonly string[] {
  return [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))]
}

export function secondWords(group: string): readonly string[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.split(" ")[1]!)
}

/** A command with its group name and with each alias of the group. */
export function spellings({ name }: CommandSpec): readonly string[] {
  const [first, second] = name.split(" ") as [string, string | undefined]
  if (second === undefined) return [first]
  return [first, ...GROUPS[first]!.aliases].map((group) => `${group} ${second}`)
}

export function flagsOf(spec: CommandSpec): readonly string[] {
  return [...optionsOf(spec).flatMap(({ flags }) => longOf(flags) ?? []), "--help"]
}

export function longOf(flags: string): string | undefined {
  return /--[\w-]+/.exec(flags)?.[0]
}

export function shortOf(flags: string): string | undefined {
  return /^-\w(?=,)/.exec(flags)?.[0]
}

export function argumentWords(spec: CommandSpec): Words {
  const completes: ArgumentSpec["completes"] = spec.args?.[0]?.completes
  return completes ?? []
}

/** The values of an option. Null: it takes none. */
export function valueWords({ flags, choices }: OptionSpec): Words | null {
  const value = /<([\w=-]+)(\.\.\.)?>/.exec(flags)?.[1]
  if (value === undefined) return null
  if (choices !== undefined) return choices
  if (flags.startsWith("--schedule ")) return "schedules"
  return value === "file" || value === "path" || value === "address" ? "files" : []
}
