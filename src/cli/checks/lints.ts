import type { Cron } from "../../core/cron/cron.ts"
import { type Lint, lintCron } from "../../core/cron/lint.ts"
import { type DstAnswers, lintsOfSchedule, unanswered } from "../../core/schedule/schedule-lints.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { printable } from "../printing/printable.ts"
import { type Colour, paintFor } from "../printing/table.ts"

/** Lints without the facts from the store, for schedules that are not stored. */
export function lintsOf(schedule: ScheduleView, now: number, answers: DstAnswers = {}): readonly Lint[] {
  const { endsAt } = schedule
  const facts = endsAt === null ? {} : { until: endsAt.getTime() }
  return unanswered(lintsOfSchedule(schedule, now, facts), answers)
}

export function lintsOfCron(cron: Cron, now: number, answers: DstAnswers = {}): readonly Lint[] {
  return unanswered(lintCron(cron, now), answers)
}

/** `--ignore L04,L05`. */
export function ignoredLints({ flags }: Call): ReadonlySet<string> {
  const codes = (flags.text("ignore") ?? "").split(",").map((code) => code.trim().toUpperCase())
  const invalid = codes.find((code) => code !== "" && !/^L\d\d$/.test(code))
  if (invalid === undefined) return new Set(codes)
  throw new CliError(
    EXIT.usage,
    `--ignore ${JSON.stringify(invalid)} is not a lint code.`,
    "Write codes such as L04,L05. docs/reference/cron.md lists them.",
  )
}

const WORDS = { error: "error", warn: "warning", info: "note" } as const
const COLOURS: Readonly<Record<Lint["severity"], Colour>> = { error: "red", warn: "yellow", info: "dim" }

/** Prints each lint on a line of standard error. */
export function printLints(call: Call, lints: readonly Lint[], of: string | null = null): void {
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
