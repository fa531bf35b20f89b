import { COMMANDS, GROUPS, SECTIONS } from "../commands.ts"
import { widthOf, wrapped } from "../printing/printable.ts"
import type { Io } from "../terminal/io.ts"
import type { CommandSpec } from "./command.ts"

/** Lines wider than 110 columns are hard to read. In a pipe the width of the screen is unknown. */
export function helpWidth(io: Io): number {
  return io.isOutTerminal ? Math.min(io.columns(), 110) : 80
}

/** `belfry --help`: all commands, by section. */
export function rootHelp(width: number): string {
  const sections = SECTIONS.map(({ title, names }) => {
    const members = COMMANDS.filter((spec) => names.includes(spec.name.split(" ")[0]!))
    return `${title}\n${commandLines(members, COMMANDS, width)}\n`
  })
  return [
    "Belfry: a distributed scheduler. Each occurrence fires once and is recorded.\n",
    "Usage: belfry <command> [options]\n",
    ...sections,
    "Every command has --help with examples. `s` is short for schedule, `r` for run.",
    "Exit codes and details: docs/reference/cli.md\n",
  ].join("\n")
}

/** `belfry schedule --help`. */
export function groupHelp(name: string, width: number): string {
  const members = COMMANDS.filter((spec) => spec.name.startsWith(`${name} `))
  const { summary, aliases } = GROUPS[name]!
  return [
    `Usage: belfry ${name} <command> [options]\n`,
    `${summary}${aliases.length === 0 ? "" : ` (short: ${aliases.join(", ")})`}\n`,
    commandLines(members, members, width),
    `\nMore: belfry ${name} <command> --help\n`,
  ].join("\n")
}

/** Each command with its summary. A long summary continues on the next line. */
function commandLines(specs: readonly CommandSpec[], aligned: readonly CommandSpec[], width: number): string {
  const indent = Math.max(...aligned.map((spec) => usageOf(spec).length)) + 4
  return specs
    .flatMap((spec) => {
      const [first = "", ...more] = wrapped(spec.summary, Math.max(20, width - indent))
      const usage = `  ${usageOf(spec)}`.padEnd(indent)
      return [usage + first, ...more.map((line) => " ".repeat(indent) + line)]
    })
    .join("\n")
}

/** `schedule get <ids...>`. */
export function usageOf(spec: CommandSpec): string {
  const args = (spec.args ?? []).map(({ name, isOptional = false, isMany = false }) => {
    const inner = isMany ? `${name}...` : name
    return isOptional ? `[${inner}]` : `<${inner}>`
  })
  return [spec.name, ...args].join(" ")
}

export function examplesOf(spec: CommandSpec, width: number): string {
  return spec.examples
    .map(([command, description]) => {
      const lines = wrapped(description, width - 6).map((line) => `      ${line}`)
      return [`  $ ${wrapCommand(command, width - 4)}`, ...lines].join("\n")
    })
    .join("\n")
}

/** Breaks a long command before an option or a pipe, with a backslash, so that it can be copied as one command. */
function wrapCommand(command: string, width: number): string {
  const lines: string[] = []
  for (const part of command.split(/ (?=-{1,2}[a-z]|\| |> )/)) {
    const last = lines[lines.length - 1]
    const joined = last === undefined ? part : `${last} ${part}`
    // Two columns for the blank and the backslash.
    if (last === undefined || widthOf(joined) <= width - 2) lines.splice(-1, 1, joined)
    else lines.push(`    ${part}`)
  }
  return lines.join(" \\\n    ")
}
