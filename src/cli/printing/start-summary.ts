import { isActive } from "../../core/schedule/schedule-state.ts"
import type { Role } from "../../engine/engine.ts"
import { version } from "../../runtime/version.ts"
import type { Client } from "../../scheduler/client.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { allSchedules } from "../session/lookups.ts"
import { type Fact, formatFacts } from "./facts.ts"
import { hintPainted } from "./output.ts"
import { printable } from "./printable.ts"
import { nextWords, whenWords } from "./schedule-rows.ts"
import { formatTable, paintFor } from "./table.ts"

export interface Started {
  readonly shownAddress: string
  readonly isNew: boolean
  readonly configPath: string | null
  readonly tasks: readonly string[]
  readonly roles: readonly Role[]
  readonly concurrency: number
}

const SHOWN = 10
/** At most this many schedules are read at start, because a store may hold millions. */
const READ_MAX = 1_000

/** Prints the store, the roles of this process, and the next runs. */
export async function printSummary(call: Call, scheduler: Client, started: Started): Promise<void> {
  const { io, flags } = call
  // With --json the reader is a program, and the started event has the same facts.
  if (flags.isOn("quiet") || flags.isOn("json")) return
  const paint = paintFor(io.isErrTerminal, io.env)
  io.err(`${paint("bold", `Belfry ${version()}`)} is running.\n\n`)
  io.err(formatFacts(factsOf(started), paint, "  "))
  const schedules = await allSchedules(scheduler, {}, READ_MAX)
  io.err("\n")
  if (schedules.length === 0) printFirstSteps(call)
  else printSchedules(call, schedules, started)
  hintPainted(
    call,
    `\n${paint("dim", "Ctrl-C stops it. Events are printed below. For an overview, in another terminal: belfry top")}\n`,
  )
}

function factsOf({ shownAddress, isNew, configPath, tasks, roles, concurrency }: Started): readonly Fact[] {
  const works = roles.includes("work")
  const fires = roles.includes("fire")
  return [
    ["Store", `${shownAddress}${isNew && !shownAddress.includes("memory") ? " (new)" : ""}`],
    ["Config", configPath ?? "none (belfry.config.ts in this folder would be read)"],
    ["Tasks", works ? tasks.join(", ") : ""],
    ["Roles", roleWords(fires, works, concurrency)],
  ]
}

function roleWords(fires: boolean, works: boolean, concurrency: number): string {
  const performs = `performs up to ${concurrency} runs at once`
  if (fires && works) return `fires schedules, and ${performs}`
  return works
    ? `only ${performs}; other processes fire schedules`
    : "only fires schedules; workers perform the runs (no HTTP API in this version)"
}

function printSchedules(call: Call, schedules: readonly ScheduleView[], started: Started): void {
  const { io } = call
  const paint = paintFor(io.isErrTerminal, io.env)
  const now = io.clock.now()
  const next = (view: ScheduleView) => view.nextRunAt?.getTime() ?? Number.MAX_SAFE_INTEGER
  const active = schedules.filter(({ state }) => isActive(state))
  const sorted = [...active].sort((a, b) => next(a) - next(b))
  const columns = [
    { header: "NEXT", text: (view: ScheduleView) => view.id, paint: () => "bold" as const, isId: true },
    { header: "TASK", text: ({ task }: ScheduleView) => task, dropOrder: 1 },
    { header: "WHEN", text: whenWords },
    { header: "DUE", text: (view: ScheduleView) => nextWords(view, io.zone, now) },
  ]
  io.err(
    formatTable(sorted.slice(0, SHOWN), columns, {
      width: io.columns(),
      paint,
      hasHeaders: true,
      indent: "  ",
    }),
  )
  const isCut = schedules.length >= READ_MAX
  const more = schedules.length - Math.min(SHOWN, sorted.length)
  if (more > 0) io.err(`  and ${more}${isCut ? " or" : ""} more: belfry schedule list\n`)
  if (!started.roles.includes("work")) return
  const missing = [...new Set(active.map(({ task }) => task))].filter((task) => !started.tasks.includes(task))
  if (missing.length > 0)
    io.err(
      `\n  ${paint("yellow", "warning:")} schedules use tasks that this process does not have: ${printable(missing.join(", "))}\n`,
    )
}

function printFirstSteps({ io }: Call): void {
  io.err(
    [
      "  There are no schedules yet. In another terminal:\n",
      `    belfry schedule create hello --task http --every 1m --payload '{"url":"https://example.com"}'`,
      "    belfry schedule list\n",
    ].join("\n"),
  )
}
