import { Argument, Command, Option } from "commander"
import type { Call, CommandSpec } from "./command.ts"
import { optionsOf } from "./command.ts"
import { COMMANDS, GROUPS } from "./commands.ts"
import type { ExitCode } from "./exit-codes.ts"
import { Flags } from "./flags.ts"
import { examplesOf, groupHelp, rootHelp } from "./help.ts"
import type { Io } from "./io.ts"
import { VERSION } from "./version.ts"

/** The table of commands as a parser. `settle` hears how the command ended. */
export function programOf(io: Io, settle: (code: ExitCode | undefined) => void): Command {
  const program = prepared(new Command("belfry"), io)
  program.version(VERSION, "-V, --version", "the version")
  program.helpInformation = () => rootHelp()
  for (const spec of COMMANDS) {
    const words = spec.name.split(" ")
    const parent = words.length === 1 ? program : groupIn(program, words[0]!, io)
    parent.addCommand(commandOf(spec, words[words.length - 1]!, io, settle))
  }
  return program
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
      getOutHelpWidth: () => Math.min(io.columns(), 110),
      getErrHelpWidth: () => Math.min(io.columns(), 110),
    })
}

function groupIn(program: Command, name: string, io: Io): Command {
  const known = program.commands.find((command) => command.name() === name)
  if (known !== undefined) return known
  const { summary, aliases } = GROUPS[name]!
  const group = prepared(new Command(name), io).description(summary).aliases(aliases)
  group.helpInformation = () => groupHelp(name)
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
    spec.details === undefined ? spec.summary : `${spec.summary}\n\n${spec.details}`,
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
  command.addHelpText("after", `\nExamples:\n${examplesOf(spec)}\n`)
  command.action(async () => {
    const call: Call = { args: command.args, flags: new Flags(command.opts()), io }
    const perform = await spec.load()
    settle(await perform(call))
  })
  return command
}
