import { COMMANDS, GROUPS } from "../commands.ts"
import { type ArgumentSpec, type CommandSpec, type OptionSpec, optionsOf } from "../parsing/command.ts"

/** What may stand where on the command line: the same for every shell. */

/** Words that are known, a kind of thing that the program is asked for, or files. */
export type Words = readonly string[] | Asked | "files"

export type Asked = "schedules" | "runs" | "workers"

/**
 * How the program itself is asked. Without a configuration: the folder may be a stranger's, and the Tab key must not run its code.
 * So the store is BELFRY_STORE, or belfry.db in this folder.
 */
export const ASKING: Readonly<Record<Asked, string>> = {
  schedules: "belfry schedule list -o name -q --no-config",
  runs: "belfry run list -n 50 -o name -q --no-config",
  workers: "belfry worker list -o name -q --no-config",
}

/** Ids with any other character are not offered: a shell may read a meaning into it. */
export const OFFERED_ID = "^[A-Za-z0-9_][A-Za-z0-9_.:@/+-]*$"

export function firstWords(): readonly string[] {
  return [...new Set(COMMANDS.map(({ name }) => name.split(" ")[0]!))]
}

export function secondWords(group: string): readonly string[] {
  return COMMANDS.filter(({ name }) => name.startsWith(`${group} `)).map(({ name }) => name.split(" ")[1]!)
}

/** Every spelling of a command: with the short names of its group. */
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

/** What the value of an option may be; null if it takes none. */
export function valueWords({ flags, choices }: OptionSpec): Words | null {
  const value = /<([\w=-]+)(\.\.\.)?>/.exec(flags)?.[1]
  if (value === undefined) return null
  if (choices !== undefined) return choices
  if (flags.startsWith("--schedule ")) return "schedules"
  return value === "file" || value === "path" || value === "address" ? "files" : []
}
