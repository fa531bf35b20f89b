import type { RunView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import { type Fact, formatFacts } from "../printing/facts.ts"
import {
  formatOf,
  isStructured,
  isTable,
  nextStep,
  paintOf,
  showAll,
  showRecord,
} from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { runRows, stateColour, stateIcon, tookWords } from "../printing/run-rows.ts"
import { formatTable } from "../printing/table.ts"
import { distanceWords, spanWords, zonedWords } from "../printing/time-text.ts"
import { runOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

export async function getRuns(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const runs: RunView[] = []
    for (const id of call.args) runs.push(await runOf(scheduler, id))
    const format = formatOf(call)
    if (isTable(format)) for (const run of runs) describe(call, run)
    else if (runs.length === 1 && isStructured(format)) await showRecord(call, runs[0], format)
    else await showAll(call, runs, runRows(call))
  })
  return undefined
}

function describe(call: Call, run: RunView): void {
  const { io } = call
  const paint = paintOf(call)
  const now = io.clock.now()
  const attempts = run.attempts.length
  const head = `${stateIcon(run.state)} ${run.state}`
  io.out(`${paint(stateColour(run.state), head)}  ${printable(run.id)}\n\n`)
  io.out(formatFacts(factsOf(run, now, io.zone), paint))
  if (attempts > 0) {
    io.out(`\n${paint("bold", "Attempts")}\n`)
    io.out(
      formatTable(run.attempts, ATTEMPT_COLUMNS(now, io.zone), {
        width: io.columns(),
        paint,
        hasHeaders: false,
        indent: "  ",
      }),
    )
  }
  if (run.error !== null) io.out(`\n${paint("bold", "Error")}\n${indented(run.error)}`)
  nextStep(call, `\nShow the log: belfry run logs ${run.id}`)
}

function factsOf(run: RunView, now: number, zone: string): readonly Fact[] {
  const when = (date: Date | null) =>
    date === null ? "" : `${zonedWords(date.getTime(), zone, now)}, ${distanceWords(date.getTime(), now)}`
  const { missed, progress } = run
  return [
    ["Task", run.task],
    ["Schedule", run.scheduleId ?? ""],
    ["Scheduled for", when(run.scheduledFor)],
    ["Triggered by", triggerWords(run)],
    [
      "Stands for",
      missed === null
        ? ""
        : `${missed.count} more occurrences, ${when(missed.from)} to ${when(missed.until)}`,
    ],
    ["Created", when(run.createdAt)],
    ["Claimable", run.state === "pending" ? when(run.claimableAt) : ""],
    ["Due", when(run.dueAt)],
    ["Started", when(run.startedAt)],
    ["Ended", when(run.completedAt)],
    ["Took", tookWords(run, now)],
    ["Worker", run.workerId ?? ""],
    ["Lease ends", run.state === "running" ? when(run.claimableAt) : ""],
    [
      "Progress",
      progress === null ? "" : `${Math.round(progress.fraction * 100)} % ${progress.message ?? ""}`,
    ],
    ["Reason", run.reason ?? ""],
    ["Message", run.message ?? ""],
    ["Payload", run.payload === null ? "" : JSON.stringify(run.payload)],
    ["Details", run.details === null ? "" : JSON.stringify(run.details)],
  ]
}

/** The trigger is omitted if it equals its kind. */
function triggerWords({ triggeredBy, trigger, by }: RunView): string {
  const detail = trigger === null || trigger === triggeredBy ? "" : ` (${trigger})`
  return `${triggeredBy}${detail}${by === null ? "" : `, ${by}`}`
}

type AttemptRow = RunView["attempts"][number]

const ATTEMPT_COLUMNS = (now: number, zone: string) => [
  { header: "", text: ({ attempt }: AttemptRow) => String(attempt), isRight: true },
  { header: "", text: ({ outcome }: AttemptRow) => outcome, paint: colourOf },
  { header: "", text: ({ startedAt }: AttemptRow) => zonedWords(startedAt.getTime(), zone, now) },
  { header: "", text: ({ durationMs }: AttemptRow) => spanWords(durationMs), isRight: true },
  { header: "", text: ({ workerId }: AttemptRow) => workerId, dropOrder: 1 },
  { header: "", text: ({ error }: AttemptRow) => error?.split("\n")[0] ?? "", below: "cut" as const },
]

function colourOf({ outcome }: AttemptRow): "green" | "red" | "yellow" {
  if (outcome === "succeeded") return "green"
  return outcome === "failed" || outcome === "timeout" || outcome === "lost" ? "red" : "yellow"
}

function indented(text: string): string {
  return text
    .split("\n")
    .slice(0, 40)
    .map((line) => `  ${printable(line)}\n`)
    .join("")
}
