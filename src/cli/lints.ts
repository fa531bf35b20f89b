import type { Cron } from "../core/cron/cron.ts"
import { type Lint, lintCron } from "../core/cron/lint.ts"
import { parseCron } from "../core/cron/parse.ts"
import type { ScheduleView } from "../scheduler/views.ts"
import type { Call } from "./command.ts"
import { printable } from "./printable.ts"
import { type Colour, paintFor } from "./table.ts"

/** What may not be meant about a stored schedule. */
export function lintsOf(schedule: ScheduleView, now: number): readonly Lint[] {
  const { timezone, dst, id, endsAt } = schedule
  return schedule.triggers.flatMap((trigger) => {
    if (trigger.kind !== "cron") return []
    const cron = parseCron(trigger.cron, { timezone, dst, dayMatch: trigger.dayMatch, seed: id })
    return lintCron(cron, now, endsAt === null ? {} : { until: endsAt.getTime() })
  })
}

export function lintsOfCron(cron: Cron, now: number): readonly Lint[] {
  return lintCron(cron, now)
}

const WORDS = { error: "error", warn: "warning", info: "note" } as const
const COLOURS: Readonly<Record<Lint["severity"], Colour>> = { error: "red", warn: "yellow", info: "dim" }

/** Each on a line, beside the data. */
export function tellLints(call: Call, lints: readonly Lint[], of: string | null = null): void {
  const { io, flags } = call
  if (flags.isOn("quiet")) return
  const paint = paintFor(io.isErrTerminal, io.env)
  for (const lint of lints) io.err(`${lintLine(lint, paint, of)}\n`)
}

export function lintLine(
  { severity, code, message, fix }: Lint,
  paint: (colour: Colour | null, text: string) => string,
  of: string | null,
): string {
  const head = `${paint(COLOURS[severity], WORDS[severity])} ${code}`
  const where = of === null ? "" : `${printable(of)}: `
  const remedy = fix === undefined ? "" : ` Try ${fix.option}: ${fix.value}`
  return `${head}  ${where}${printable(message)}${printable(remedy)}`
}
