import { Argument, Command, Option } from "commander"
import { version } from "../../runtime/version.ts"
import { CliError } from "../cli-error.ts"
import { COMMANDS, GROUPS } from "../commands.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { COLOUR_CHOICES } from "../printing/colour-choice.ts"
import { checkFields } from "../printing/output.ts"
import type { Io } from "../terminal/io.ts"
import type { Call, CommandSpec } from "./command.ts"
import { optionsOf } from "./command.ts"
import { Flags } from "./flags.ts"
import { examplesOf, groupHelp, helpWidth, rootHelp } from "./help.ts"

/**
 * The parser, built from the table of commands. `settle` is called with the exit code. If the arguments begin with a command,
 * only that command is built, which saves 10 ms. Otherwise all commands are built, for suggestions.
 */
export function programOf(
  argv: readonly string[],
  io: Io,
  settle: (code: ExitCode | undefined) => void,
): Command {
  const program = prepared(new Command("belfry"), io)
  const called = commandIn(argv)
  if (called === undefined) program.version(version(), "-V, --version", "print the version")
  program.helpInformation = () => rootHelp(helpWidth(io))
  for (const spec of called === undefined ? COMMANDS : [called]) {
    const words = spec.name.split(" ")
    const parent = words.length === 1 ? program : groupIn(program, words[0]!, io)
    parent.addCommand(commandOf(spec, words[words.length - 1]!, io, settle))
  }
  return program
}

function commandIn([first = "", second = ""]: readonly string[]): CommandSpec | undefined {
  const group = Object.keys(GROUPS).find((name) => name === first || GROUPS[name]!.aliases.includes(first))
  const name = group === undefined ? first : `${group} ${second}`
  return COMMANDS.find((spec) => spec.name === name)
}

/** Errors are thrown, and `main` prints them once. */
function prepared(command: Command, io: Io): Command {
  return command
    .exitOverride()
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .configureOutput({
      writeOut: (text) => io.out(text),
      writeErr: (text) => io.err(text),
      outputError: () => undefined,
      getOutHelpWidth: () => helpWidth(io),
      getErrHelpWidth: () => helpWidth(io),
    })
}

function groupIn(program: Command, name: string, io: Io): Command {
  const known = program.commands.find((command) => command.name() === name)
  if (known !== undefined) return known
  const { summary, aliases } = GROUPS[name]!
  const group = prepared(new Command(name), io).description(summary).aliases(aliases)
  group.helpInformation = () => groupHelp(name, helpWidth(io))
  program.addCommand(group)
  return group
}

function commandOf(
  spec: CommandSpec,
  name: string,
  io: Io,
  settle: (code: ExitCode | undefined) => void,
): Command {
  const command = prepared(new Command(name), io).description(
    // The line breaks of the source are removed. Commander wraps the text to the width of the terminal.
    spec.details === undefined ? spec.summary : `${spec.summary}\n\n${spec.details.replaceAll("\n", " ")}`,
  )
  for (const { name, description, isOptional = false, isMany = false } of spec.args ?? []) {
    const inner = isMany ? `${name}...` : name
    command.addArgument(new Argument(isOptional ? `[${inner}]` : `<${inner}>`, description))
  }
  for (const { flags, description, choices, isMany = false } of optionsOf(spec)) {
    const text = choices === undefined ? description : `${description}: ${choices.join(", ")}`
    const option = new Option(flags, text)
    if (isMany) option.argParser((value: string, before: string[] | undefined) => [...(before ?? []), value])
    command.addOption(option)
  }
  command.addHelpText("after", `\nExamples:\n${examplesOf(spec, helpWidth(io))}\n`)
  command.action(async () => {
    const flags = new Flags(command.opts())
    flags.choice("color", COLOUR_CHOICES)
    const call: Call = { args: await argumentsOf(spec, command.args, io), flags, io }
    if (spec.prints === "records") checkFields(call)
    const perform = await spec.load()
    settle(await perform(call))
  })
  return command
}

/** For a command with several arguments, a single `-` reads them from standard input, one per line. */
async function argumentsOf(spec: CommandSpec, args: readonly string[], io: Io): Promise<readonly string[]> {
  const takesMany = spec.args?.some(({ isMany = false }) => isMany) ?? false
  if (!takesMany || args.length !== 1 || args[0] !== "-") return args
  const lines = (await io.readInput()).split("\n").map((line) => line.trim())
  const named = lines.filter((line) => line !== "")
  if (named.length > 0) return named
  throw new CliError(EXIT.usage, "Standard input is empty.", "Give one id per line.")
}
