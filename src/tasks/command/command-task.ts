import { BelfryError } from "../../core/errors.ts"
import { checked, copied, type OptionSource, type OptionType } from "../../core/options/checked.ts"
import { TASK_NAME } from "../../core/options/limits.ts"
import { asGiven, duration, integer, objectWith, unread } from "../../core/options/option-types.ts"
import type { RetryOptions } from "../../core/options/options.ts"
import { RETRY } from "../../core/options/policies.ts"
import { type Duration, formatDuration } from "../../core/time/duration.ts"
import { HOUR, SECOND } from "../../core/time/instant.ts"
import { type Clock, systemClock } from "../../runtime/clock.ts"
import { defineTask, type Task } from "../../task/task.ts"
import type { RunInfo, TaskContext } from "../../task/task-context.ts"
import { argvOf, type Command, type CommandDefinition, defineCommand } from "./command-definition.ts"
import { type CommandCall, type CommandPayload, commandPayloadSchema } from "./command-payload.ts"
import type { GuardOrder } from "./guard.ts"
import { type ProcessEnd, runGuarded } from "./guarded-process.ts"
import { type OutputBudget, OutputLines } from "./output-lines.ts"

export interface CommandTaskOptions {
  /** The commands that payloads may name, by name. */
  readonly commands: Readonly<Record<string, CommandDefinition>>
  /** Default `command`. */
  readonly name?: string
  readonly retry?: RetryOptions
  /** Time for a command to end after it is told to stop. Then it is killed. Default 5 s. */
  readonly grace?: Duration
  /** How much output one attempt may write to its log. Default 5,000 lines and 1 MiB. */
  readonly maxLines?: number
  readonly maxOutputBytes?: number
  /** For tests. */
  readonly clock?: Clock
}

/** The result of a command, stored as the run's `details`. */
export interface CommandDetails extends ProcessEnd {
  readonly command: string
  readonly timedOut: boolean
  readonly durationMs: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  /** True if not all of the output is in the log. */
  readonly isCut: boolean
}

/** 5,000 lines written at once take 10 MB of a worker's memory until they are stored, 10,000 lines 28 MB. */
const LINES_MAX = 5_000
const OUTPUT_MAX_BYTES = 1_048_576

export const COMMAND_TASK_OPTIONS = {
  commands: unread,
  name: TASK_NAME,
  retry: asGiven<RetryOptions>(RETRY),
  grace: duration({ max: HOUR }),
  maxLines: integer(0, 1_000_000),
  maxOutputBytes: integer(0, 1_073_741_824),
  clock: objectWith<Clock>(["monotonic", "setTimer"], "a clock"),
} satisfies Record<keyof CommandTaskOptions, OptionType<unknown>>

/** A task that runs programs on this machine: only the commands in its options, with checked arguments, without a shell. */
export function commandTask(options: CommandTaskOptions): Task<CommandPayload, CommandCall> {
  if (process.platform === "win32") {
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      "commandTask is not supported on Windows, which has no process groups to stop a command with. Use it on Linux or macOS, or start the program in a task of your own.",
    )
  }
  const source: OptionSource = { code: "BELFRY_TASK_INVALID", subject: "commandTask" }
  const given = checked(options, COMMAND_TASK_OPTIONS, source)
  const definitions = copied(given.commands as CommandTaskOptions["commands"] | undefined, {
    source,
    option: "commands",
  })
  const entries = Object.entries(definitions)
  if (entries.length === 0) {
    throw new BelfryError(
      "BELFRY_TASK_INVALID",
      "commandTask needs `commands`: the commands that payloads may name.",
    )
  }
  const commands = new Map(entries.map(([name, definition]) => [name, defineCommand(name, definition)]))
  const setup: Setup = {
    commands,
    graceMs: given.grace ?? 5 * SECOND,
    budget: {
      linesLeft: given.maxLines ?? LINES_MAX,
      bytesLeft: given.maxOutputBytes ?? OUTPUT_MAX_BYTES,
    },
    clock: given.clock ?? systemClock,
  }
  return defineTask({
    name: given.name ?? "command",
    payload: commandPayloadSchema(commands),
    ...(given.retry !== undefined && { retry: given.retry }),
    run: (context) => runCommand(context, setup),
  })
}

interface Setup {
  readonly commands: ReadonlyMap<string, Command>
  readonly graceMs: number
  readonly budget: Readonly<OutputBudget>
  readonly clock: Clock
}

async function runCommand(
  { payload, run, signal, log }: TaskContext<CommandCall>,
  { commands, graceMs, budget, clock }: Setup,
): Promise<{ success: boolean; message: string; details: CommandDetails }> {
  const command = commands.get(payload.command)!
  const ownBudget = { ...budget }
  const stdout = new OutputLines("stdout", log, ownBudget)
  const stderr = new OutputLines("stderr", log, ownBudget)
  const deadline = deadlineOf(signal, command.timeoutMs, clock)
  const startedAt = clock.monotonic()
  const end = await runGuarded(orderOf(command, payload, run, graceMs), {
    streams: { stdout: (chunk) => stdout.push(chunk), stderr: (chunk) => stderr.push(chunk) },
    signal: deadline.signal,
    clock,
  }).finally(deadline.release)
  stdout.finish()
  stderr.finish()
  const details: CommandDetails = {
    command: command.name,
    ...end,
    timedOut: deadline.hasPassed(),
    durationMs: Math.round(clock.monotonic() - startedAt),
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    isCut: stdout.isCut || stderr.isCut,
  }
  // After an abort by the run's own signal, the engine expects an error, not a result.
  signal.throwIfAborted()
  const success = end.exitCode === 0 && !details.timedOut
  return { success, message: messageOf(command, details), details }
}

function messageOf(
  command: Command,
  { exitCode, signal, error, timedOut, durationMs }: CommandDetails,
): string {
  const name = `Command "${command.name}"`
  const took = formatDuration(durationMs)
  if (timedOut) return `${name} was stopped after its timeout of ${formatDuration(command.timeoutMs)}`
  if (error === "ENOENT") {
    const where = command.cwd === null ? "" : `, or there is no folder "${command.cwd}"`
    return `${name} could not be started: there is no program "${command.argv[0]}" (ENOENT)${where}`
  }
  if (error !== null) return `${name} could not be started: ${error}`
  if (signal !== null) return `${name} was ended by ${signal} after ${took}`
  return `${name} ended with exit code ${exitCode} after ${took}`
}

const INHERITED: readonly string[] = ["PATH", "HOME", "LANG", "TZ"]

function orderOf(command: Command, payload: CommandCall, run: RunInfo, graceMs: number): GuardOrder {
  const inherited = [...INHERITED, ...command.env].flatMap((name) => {
    const value = process.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  const { scheduledFor } = run
  return {
    argv: argvOf(command, payload.args),
    // Set explicitly, because the guard itself runs in "/".
    cwd: command.cwd ?? process.cwd(),
    env: {
      ...Object.fromEntries(inherited),
      BELFRY_RUN_ID: run.id,
      BELFRY_ATTEMPT: String(run.attempt),
      ...(scheduledFor !== null && { BELFRY_SCHEDULED_FOR: scheduledFor.toISOString() }),
    },
    ...(command.uid !== null && { uid: command.uid }),
    ...(command.gid !== null && { gid: command.gid }),
    graceMs,
  }
}

/** Aborts at the run's signal or after the command's timeout, whichever comes first. */
function deadlineOf(signal: AbortSignal, timeoutMs: number, clock: Clock) {
  const controller = new AbortController()
  let hasPassed = false
  const follow = () => controller.abort(signal.reason)
  if (signal.aborted) follow()
  signal.addEventListener("abort", follow, { once: true })
  const cancelTimer = clock.setTimer(timeoutMs, () => {
    hasPassed = !signal.aborted
    controller.abort()
  })
  return {
    signal: controller.signal,
    hasPassed: () => hasPassed,
    release: () => {
      cancelTimer()
      signal.removeEventListener("abort", follow)
    },
  }
}
