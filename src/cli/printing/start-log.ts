import type { RunEvent } from "../../engine/events.ts"
import { jsonLogger, type LogFacts, type Logger } from "../../runtime/logger.ts"
import type { Call } from "../parsing/command.ts"
import { jsonLine, paintOf } from "./output.ts"
import { printable } from "./printable.ts"
import { clockWords, eventLine } from "./run-events.ts"
import type { Colour } from "./table.ts"

/**
 * The output of `belfry start` while it runs: events of the program, events of runs, and the log of the engine. All go to
 * standard output in one format: readable lines, or with `--json` one object per line.
 */
export interface StartLog {
  life(type: "started" | "stopping" | "stopped", message: string, facts?: LogFacts): void
  run(event: RunEvent): void
  readonly logger: Logger
}

const LEVELS = ["debug", "info", "warn", "error"] as const

export function startLog(call: Call): StartLog {
  return call.flags.isOn("json") ? jsonLog(call) : linesLog(call)
}

/** Log lines of the worker about an attempt are dropped, because the event of the run is printed. */
function isReportedAsEvent({ component, attempt }: LogFacts): boolean {
  return component === "worker" && attempt !== undefined
}

function withoutEvents(logger: Logger): Logger {
  const forward = (level: (typeof LEVELS)[number]) => (facts: LogFacts, message: string) => {
    if (!isReportedAsEvent(facts)) logger[level](facts, message)
  }
  return { debug: forward("debug"), info: forward("info"), warn: forward("warn"), error: forward("error") }
}

function jsonLog({ flags, io }: Call): StartLog {
  const now = () => new Date(io.clock.now())
  return {
    life: (type, message, facts = {}) => io.out(jsonLine({ at: now(), type, message, ...facts })),
    run: (event) => io.out(jsonLine({ at: now(), ...event })),
    logger: withoutEvents(jsonLogger({ level: levelOf(flags), write: (line) => io.out(line), now })),
  }
}

const LIFE = { started: "● started  ", stopping: "○ stopping ", stopped: "○ stopped  " } as const
const HEADS: Readonly<Record<(typeof LEVELS)[number], readonly [Colour | null, string]>> = {
  debug: ["dim", "  debug    "],
  info: [null, "  info     "],
  warn: ["yellow", "! warning  "],
  error: ["red", "! error    "],
}

function linesLog(call: Call): StartLog {
  const { io, flags } = call
  const paint = paintOf(call)
  const line = (colour: Colour | null, head: string, text: string) => {
    const clock = clockWords(io.clock.now(), io.zone)
    io.out(`${paint("dim", clock)}  ${paint(colour, head)}  ${printable(text)}\n`)
  }
  const least = LEVELS.indexOf(levelOf(flags))
  const writer = (level: (typeof LEVELS)[number]) => (facts: LogFacts, message: string) => {
    if (LEVELS.indexOf(level) >= least) line(...HEADS[level], `${message}${factWords(facts)}`)
  }
  return {
    life: (type, message) => line("bold", LIFE[type], message),
    run: (event) => {
      const text = eventLine(event, new Date(io.clock.now()), io.zone, paint)
      if (text !== null) io.out(`${text}\n`)
    },
    logger: withoutEvents({
      ...{ debug: writer("debug"), info: writer("info"), warn: writer("warn"), error: writer("error") },
    }),
  }
}

function levelOf(flags: Call["flags"]): (typeof LEVELS)[number] {
  return flags.choice("logLevel", LEVELS) ?? "warn"
}

/** `(heartbeat; error: ECONNREFUSED)`: the first line of each fact. */
function factWords({ component, ...facts }: LogFacts): string {
  const words = Object.entries(facts).map(([name, value]) => `${name}: ${valueWords(value)}`)
  const all = component === undefined ? words : [component, ...words]
  return all.length === 0 ? "" : ` (${all.join("; ")})`
}

function valueWords(value: unknown): string {
  if (typeof value === "string") return value.split("\n")[0]!
  if (value instanceof Error) return value.message.split("\n")[0]!
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // For example a circular object. The log line must be printed even so.
    return String(value)
  }
}
