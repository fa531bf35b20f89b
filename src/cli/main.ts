import { CommanderError } from "commander"
import { EXIT, type ExitCode } from "./exit-codes.ts"
import { meantCommands } from "./parsing/meant-command.ts"
import { programOf } from "./parsing/program.ts"
import { withColourChoice } from "./printing/colour-choice.ts"
import { printable, printableJson } from "./printing/printable.ts"
import { paintFor } from "./printing/table.ts"
import { type Problem, problemOf } from "./refusal.ts"
import type { Io } from "./terminal/io.ts"

/** The whole program: reads the arguments, does one command, says what went wrong. Resolves with the exit code. */
export async function main(typed: readonly string[], world: Io): Promise<number> {
  // `belfry help schedule create` is `belfry schedule create --help`.
  const argv = typed[0] === "help" ? [...typed.slice(1), "--help"] : typed
  const io = withColourChoice(world, argv)
  let answer: ExitCode | undefined
  const program = programOf(argv, io, (code) => {
    answer = code
  })
  try {
    await program.parseAsync(argv.length === 0 ? ["--help"] : [...argv], { from: "user" })
    return answer ?? EXIT.done
  } catch (error) {
    if (error instanceof CommanderError) return tellUsage(error, argv, io)
    // By name: the class is loaded only with the first question.
    if (error instanceof Error && error.name === "Interrupted") return EXIT.interrupted
    const problem = problemOf(error)
    tell(problem, argv, io)
    if (argv.includes("--debug") && error instanceof Error) io.err(`${stackOf(error)}\n`)
    return problem.exit
  }
}

/** Help and version are thrown, too. A group without a command has shown its help: that is wrong usage. */
function tellUsage(error: CommanderError, argv: readonly string[], io: Io): number {
  if (error.exitCode === 0) return EXIT.done
  if (error.code === "commander.help") return EXIT.usage
  const [what = "", suggestion] = error.message.replace(/^error: /, "").split("\n")
  const path = argv.filter((word) => /^[a-z]+$/.test(word)).slice(0, 2)
  // What wasn't understood is no part of the way to help.
  const way = error.code === "commander.unknownCommand" ? path.slice(0, argv.indexOf(unknownIn(what))) : path
  const help = ["belfry", ...way, "--help"].join(" ")
  if (error.code === "commander.unknownCommand" && way.length === 0)
    return tellUnknown(unknownIn(what), argv, io)
  const remedy =
    suggestion === undefined ? `See: ${help}` : `${suggestion.replace(/^\((.*)\)$/, "$1")} See: ${help}`
  const message = `${capital(what).replace(/\.$/, "")}.`
  tell({ exit: EXIT.usage, code: null, message, remedy }, argv, io)
  return EXIT.usage
}

/** Commander compares letters only, and takes `list` for a misspelt `lint`. */
function tellUnknown(first: string, argv: readonly string[], io: Io): number {
  const second = argv[argv.indexOf(first) + 1]
  const meant = meantCommands(first, second).map((name) => `belfry ${name}`)
  const message = `There is no command '${first}'.`
  const remedy = `${meant.length === 0 ? "" : `Did you mean ${meant.join(", or ")}? `}See: belfry --help`
  tell({ exit: EXIT.usage, code: null, message, remedy }, argv, io)
  return EXIT.usage
}

/** One line what, one line what to do. With `--json`, one object. */
function tell(problem: Problem, argv: readonly string[], io: Io): void {
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
