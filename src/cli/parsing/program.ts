import { Argument, Command, Option } from "commander"
import { version } from "../../runtime/version.ts"
import { COMMANDS, GROUPS } from "../commands.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import { COLOUR_CHOICES } from "../printing/colour-choice.ts"
import { checkFields } from "../printing/output.ts"
import { Refusal } from "../refusal.ts"
import type { Io } from "../terminal/io.ts"
import type { Call, CommandSpec } from "./command.ts"
import { optionsOf } from "./command.ts"
import { Flags } from "./flags.ts"
import { examplesOf, groupHelp, helpWidth, rootHelp } from "./help.ts"

/**
 * The table of commands as a parser. `settle` hears how the command ended. If the arguments begin with a command, only that
 * one is made, which is 10 ms faster than all of them; otherwise all are, to suggest what may have been meant.
 */
export function programOf(
  argv: readonly string[],
  io: Io,
  settle: (code: ExitCode | undefined) => void,
): Command {
  const program = prepared(new Command("belfry"), io)
  const called = commandIn(argv)
  if (called === undefined) program.version(version(), "-V, --version", "the version")
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

/** Errors are thrown, and told once, by `main`. */
function prepared(command: Command, io: Io): Command {
  return command
    .exitOverride()
    .helpOption("-h, --help", "this help")
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
    // Lines are broken for the terminal's width, not where the source breaks them.
    spec.details === undefined ? spec.summary : `${spec.summary}\n\n${spec.details.replaceAll("\n", " ")}`,
  )
  for (const { name, words, isOptional = false, isMany = false } of spec.args ?? []) {
    const inner = isMany ? `${name}...` : name
    command.addArgument(new Argument(isOptional ? `[${inner}]` : `<${inner}>`, words))
  }
  for (const { flags, words, choices, isMany = false } of optionsOf(spec)) {
    const option = new Option(flags, choices === undefined ? words : `${words}: ${choices.join(", ")}`)
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

/** Where several may be named, a lone `-` stands for the lines of standard input. */
async function argumentsOf(spec: CommandSpec, args: readonly string[], io: Io): Promise<readonly string[]> {
  const takesMany = spec.args?.some(({ isMany = false }) => isMany) ?? false
  if (!takesMany || args.length !== 1 || args[0] !== "-") return args
  const lines = (await io.readInput()).split("\n").map((line) => line.trim())
  const named = lines.filter((line) => line !== "")
  if (named.length > 0) return named
  throw new Refusal(EXIT.usage, "Standard input named nothing.", "Give one name a line.")
}
