import type { CommandSpec } from "./command.ts"
import { COMMANDS, GROUPS, SECTIONS } from "./commands.ts"

/** `belfry --help`: every command there is, by what one wants to do. */
export function rootHelp(): string {
  const width = Math.max(...COMMANDS.map((spec) => usageOf(spec).length)) + 2
  const sections = SECTIONS.map(({ title, names }) => {
    const lines = COMMANDS.filter((spec) => names.includes(spec.name.split(" ")[0]!)).map(
      (spec) => `  ${usageOf(spec).padEnd(width)}${spec.summary}`,
    )
    return `${title}\n${lines.join("\n")}\n`
  })
  return [
    "Belfry: schedules that fire once, and a record of every occurrence.\n",
    "Usage: belfry <command> [options]\n",
    ...sections,
    "Every command has --help with examples. `s` is short for schedule, `r` for run.",
    "Exit codes and everything else: docs/reference/cli.md\n",
  ].join("\n")
}

/** `belfry schedule --help`. */
export function groupHelp(name: string): string {
  const members = COMMANDS.filter((spec) => spec.name.startsWith(`${name} `))
  const width = Math.max(...members.map((spec) => usageOf(spec).length)) + 2
  const { summary, aliases } = GROUPS[name]!
  return [
    `Usage: belfry ${name} <command> [options]\n`,
    `${summary}${aliases.length === 0 ? "" : ` (short: ${aliases.join(", ")})`}\n`,
    ...members.map((spec) => `  ${usageOf(spec).padEnd(width)}${spec.summary}`),
    `\nMore: belfry ${name} <command> --help\n`,
  ].join("\n")
}

/** `schedule get <key...>`. */
export function usageOf(spec: CommandSpec): string {
  const args = (spec.args ?? []).map(({ name, isOptional = false, isMany = false }) => {
    const inner = isMany ? `${name}...` : name
    return isOptional ? `[${inner}]` : `<${inner}>`
  })
  return [spec.name, ...args].join(" ")
}

export function examplesOf(spec: CommandSpec): string {
  return spec.examples.map(([command, words]) => `  $ ${command}\n      ${words}`).join("\n")
}
