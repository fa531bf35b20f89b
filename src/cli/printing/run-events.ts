import type { RunEvent } from "../../engine/events.ts"
import { printable } from "./printable.ts"
import type { Colour, Paint } from "./table.ts"
import { spanWords, wallWords } from "./time-text.ts"

/** One line for an event of a run. Null: the event is not printed. */
export function eventLine(event: RunEvent, at: Date, zone: string, paint: Paint): string | null {
  const parts = partsOf(event)
  if (parts === null) return null
  const [colour, head, facts] = parts
  const clock = clockWords(at.getTime(), zone)
  const rest = facts === "" ? "" : `  ${printable(facts)}`
  return `${paint("dim", clock)}  ${paint(colour, head)}  ${printable(event.runId)}${rest}`
}

/** `09:30:00` */
export function clockWords(at: number, zone: string): string {
  const time = wallWords(at, zone, at).split(" ").at(-1)!
  return time.length === 5 ? `${time}:00` : time
}

function partsOf(event: RunEvent): readonly [Colour | null, string, string] | null {
  switch (event.type) {
    case "started":
      return ["cyan", "▶ started  ", lateWords(event.latenessMs, event.attempt)]
    case "succeeded":
      return ["green", "✓ succeeded", event.message ?? ""]
    case "failed":
      return ["red", "✕ failed   ", firstLine(event.error)]
    case "lost":
      return ["red", "✕ lost     ", firstLine(event.error)]
    case "retrying":
      return ["yellow", "↻ retrying ", `in ${spanWords(event.retryInMs)}: ${firstLine(event.error)}`]
    case "skipped":
      return ["yellow", "⤼ skipped  ", `${event.reason}${event.message === null ? "" : `: ${event.message}`}`]
    case "cancelled":
      return ["yellow", "⊘ cancelled", ""]
    case "released":
      return ["yellow", "◔ released ", "unfinished; it is due again at once"]
    case "superseded":
      return ["yellow", "! refused  ", "the run was released or cancelled in the meantime"]
    case "created":
      return null
  }
}

/** A shorter lateness is not printed. */
const LATE_MS = 5_000

function lateWords(latenessMs: number, attempt: number): string {
  const late = latenessMs >= LATE_MS ? `${spanWords(latenessMs)} late` : ""
  const attempts = attempt > 1 ? `attempt ${attempt}` : ""
  return [attempts, late].filter((part) => part !== "").join(", ")
}

function firstLine(text: string | null): string {
  return text?.split("\n")[0] ?? ""
}
