import type { Cron } from "../../core/cron/cron.ts"
import { type Lint, lintCron } from "../../core/cron/lint.ts"
import { parseCron } from "../../core/cron/parse.ts"
import type { ScheduleOptions } from "../../core/options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { printable } from "../printing/printable.ts"
import { type Colour, paintFor } from "../printing/table.ts"
import { Refusal } from "../refusal.ts"

/** What was said about clock changes. Saying it answers the lint about it: L04 and L05. */
export type DstChoice = NonNullable<ScheduleOptions["dst"]>

/** What may not be meant about a stored schedule. */
export function lintsOf(schedule: ScheduleView, now: number, choice: DstChoice = {}): readonly Lint[] {
  const { timezone, dst, id, endsAt } = schedule
  const lints = schedule.triggers.flatMap((trigger) => {
    if (trigger.kind !== "cron") return []
    const cron = parseCron(trigger.cron, { timezone, dst, dayMatch: trigger.dayMatch, seed: id })
    return lintCron(cron, now, endsAt === null ? {} : { until: endsAt.getTime() })
  })
  return unanswered(lints, { ...storedChoice(dst), ...choice })
}

export function lintsOfCron(cron: Cron, now: number, choice: DstChoice = {}): readonly Lint[] {
  return unanswered(lintCron(cron, now), choice)
}

/** A stored schedule doesn't tell a default from the same value chosen. Any other value was chosen. */
function storedChoice({ gap, overlap }: ScheduleView["dst"]): DstChoice {
  return { ...(gap === "after" ? {} : { gap }), ...(overlap === "first" ? {} : { overlap }) }
}

function unanswered(lints: readonly Lint[], { gap, overlap }: DstChoice): readonly Lint[] {
  return lints.filter(
    ({ code }) => !(code === "L04" && gap !== undefined) && !(code === "L05" && overlap !== undefined),
  )
}

/** `--ignore L04,L05`. */
export function ignoredLints({ flags }: Call): ReadonlySet<string> {
  const codes = (flags.text("ignore") ?? "").split(",").map((code) => code.trim().toUpperCase())
  const wrong = codes.find((code) => code !== "" && !/^L\d\d$/.test(code))
  if (wrong === undefined) return new Set(codes)
  throw new Refusal(
    EXIT.usage,
    `--ignore ${JSON.stringify(wrong)} is no lint.`,
    "Write codes such as L04,L05. docs/reference/cron.md lists them.",
  )
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
