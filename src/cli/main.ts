import { CommanderError } from "commander"
import { type Problem, problemOf } from "./cli-error.ts"
import { EXIT, type ExitCode } from "./exit-codes.ts"
import { programOf } from "./parsing/program.ts"
import { suggestedCommands } from "./parsing/suggested-commands.ts"
import { withColourChoice } from "./printing/colour-choice.ts"
import { printable, printableJson } from "./printing/printable.ts"
import { paintFor } from "./printing/table.ts"
import type { Io } from "./terminal/io.ts"

/** The program: parses the arguments, performs one command and reports errors. Resolves with the exit code. */
export async function main(args: readonly string[], processIo: Io): Promise<number> {
  // `belfry help schedule create` is `belfry schedule create --help`.
  const argv = args[0] === "help" ? [...args.slice(1), "--help"] : args
  const io = withColourChoice(processIo, argv)
  let exitCode: ExitCode | undefined
  const program = programOf(argv, io, (code) => {
    exitCode = code
  })
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" })
    return exitCode ?? EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return reportUsage(error, argv, io)
    // Compared by name, because the class is loaded only with the first question.
    if (error instanceof Error && error.name === "Interrupted") return EXIT.interrupted
    const problem = problemOf(error)
    report(problem, argv, io)
    if (argv.includes("--debug") && error instanceof Error) io.err(`${stackOf(error)}\n`)
    return problem.exit
  }
}

/** Commander also throws for help and version. A group without a command prints its help, which is invalid usage. */
function reportUsage(error: CommanderError, argv: readonly string[], io: Io): number {
  if (error.exitCode === 0) return EXIT.done
  if (error.code === "commander.help") return EXIT.usage
  const [summary = "", suggestion] = error.message.replace(/^error: /, "").split("\n")
  const path = argv.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2)
  // The unknown word is not part of the help command.
  const known =
    error.code === "commander.unknownCommand" ? path.slice(0, argv.indexOf(unknownIn(summary))) : path
  const help = ["belfry", ...known, "--help"].join(" ")
  if (error.code === "commander.unknownCommand" && known.length === 0)
    return reportUnknown(unknownIn(summary), argv, io)
  const remedy =
    suggestion === undefined ? `See: ${help}` : `${suggestion.replace(/^\((.*)\)$/, "$1")} See: ${help}`
  const message = `${capital(summary).replace(/\.$/, "")}.`
  report({ exit: EXIT.usage, code: null, message, remedy }, argv, io)
  return EXIT.usage
}

/** Commander's own suggestion compares letters only, and suggests `lint` for `list`. */
function reportUnknown(first: string, argv: readonly string[], io: Io): number {
  const second = argv[argv.indexOf(first) + 1]
  const suggested = suggestedCommands(first, second).map((name) => `belfry ${name}`)
  const message = `There is no command '${first}'.`
  const remedy = `${suggested.length === 0 ? "" : `Did you mean ${suggested.join(", or ")}? `}See: belfry --help`
  report({ exit: EXIT.usage, code: null, message, remedy }, argv, io)
  return EXIT.usage
}

/** Prints the message and the remedy, or with `--json` one object. */
function report(problem: Problem, argv: readonly string[], io: Io): void {
  const { exit, code, message, remedy } = problem
  if (argv.includes("--json")) {
    io.err(`${printableJson(JSON.stringify({ error: { code, message, remedy, exit } }))}\n`)
    return
  }
  const paint = paintFor(io.isErrTerminal, io.env)
  const [first = "", ...more] = message.split("\n").map((line) => printable(line))
  io.err(`${paint("red", "error:")} ${first}${code === null ? "" : paint("dim", ` (${code})`)}\n`)
  for (const line of more) io.err(`       ${line}\n`)
  if (remedy !== null) io.err(`       ${printable(remedy)}\n`)
}

function unknownIn(message: string): string {
  return /'([^']*)'/.exec(message)?.[1] ?? ""
}

function stackOf(error: Error): string {
  const cause = error.cause instanceof Error ? `\ncaused by ${stackOf(error.cause)}` : ""
  return (
    (error.stack ?? String(error))
      .split("\n")
      .map((line) => printable(line))
      .join("\n") + cause
  )
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}
