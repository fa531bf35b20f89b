import type { RunState } from "../core/run.ts"
import type { RunView, ScheduleView, WorkerView } from "../scheduler/views.ts"
import { cutTo, printable, widthOf } from "./printable.ts"
import { messageOf, tookWords } from "./run-rows.ts"
import { nextWords, statusOf } from "./schedule-rows.ts"
import type { Paint } from "./table.ts"
import { distanceWords, wallWords } from "./time-words.ts"

/** What `top` shows, read at one moment. */
export interface Picture {
  readonly place: string
  readonly now: number
  readonly zone: string
  readonly storeMs: number
  readonly counts: Readonly<Record<RunState, number>>
  readonly running: readonly RunView[]
  readonly recent: readonly RunView[]
  readonly schedules: readonly ScheduleView[]
  readonly workers: readonly WorkerView[]
  readonly selected: number
  readonly said: string
}

export function pictureLines(
  picture: Picture,
  paint: Paint,
  size: { columns: number; rows: number },
): readonly string[] {
  const { columns, rows } = size
  const half = Math.max(3, Math.floor((rows - 9) / 3))
  const lines = [
    ...headLines(picture, paint),
    "",
    paint("dim", `RUNNING (${picture.running.length})`),
    ...picture.running.slice(0, half).map((run) => runLine(run, picture.now, paint)),
    "",
    paint("dim", `NEXT (${picture.schedules.length} schedules)`),
    ...nextLines(picture, half, paint),
    "",
    paint("dim", "LATELY"),
    ...picture.recent.slice(0, half).map((run) => recentLine(run, picture.now, paint)),
    "",
    picture.said === "" ? paint("dim", "[↑↓] choose  [p]ause or resume  [t]rigger  [q]uit") : picture.said,
  ]
  return lines.slice(0, rows - 1).map((line) => cutLine(line, columns))
}

function headLines(picture: Picture, paint: Paint): readonly string[] {
  const { workers, counts, now, zone, storeMs, place } = picture
  const slots = workers.reduce((sum, worker) => sum + worker.slots, 0)
  const used = workers.reduce((sum, worker) => sum + worker.running, 0)
  const time = wallWords(now, zone, now).split(" ").at(-1)!
  return [
    `${paint("bold", "belfry top")}  ${printable(place)}  store ${storeMs.toFixed(0)} ms  ${time} ${zone}`,
    `workers ${workers.length} (${used}/${slots} slots)   pending ${counts.pending}   running ${counts.running}   failed ${counts.failed}   succeeded ${counts.succeeded}   skipped ${counts.skipped}`,
  ]
}

function runLine(run: RunView, now: number, paint: Paint): string {
  const took = tookWords(run, now).padStart(9)
  return `${paint("cyan", "▶")} ${pad(run.id, 46)} ${took}  ${pad(run.workerId ?? "", 24)} ${printable(messageOf(run))}`
}

function nextLines(
  { schedules, selected, zone, now }: Picture,
  count: number,
  paint: Paint,
): readonly string[] {
  const from = Math.max(0, Math.min(selected - Math.floor(count / 2), schedules.length - count))
  return schedules.slice(from, from + count).map((schedule, index) => {
    const isSelected = from + index === selected
    const status = statusOf(schedule)
    const mark = isSelected ? paint("bold", "›") : " "
    const state = status === "active" ? "" : paint("yellow", ` ${status}`)
    return `${mark} ${pad(schedule.id, 30)} ${pad(schedule.words, 40)} ${printable(nextWords(schedule, zone, now))}${state}`
  })
}

function recentLine(run: RunView, now: number, paint: Paint): string {
  const mark = { succeeded: "✓", failed: "✕", cancelled: "⊘", skipped: "⤼", pending: "◔", running: "▶" }[
    run.state
  ]
  const colour = run.state === "failed" ? "red" : run.state === "succeeded" ? "green" : "yellow"
  const ago = run.completedAt === null ? "" : distanceWords(run.completedAt.getTime(), now)
  return `${paint(colour, mark)} ${pad(run.id, 46)} ${ago.padStart(12)}  ${printable(messageOf(run))}`
}

function pad(text: string, width: number): string {
  const cut = cutTo(printable(text), width)
  return cut + " ".repeat(Math.max(0, width - widthOf(cut)))
}

/** Cut to the screen's width, not counting the colours. */
function cutLine(line: string, columns: number): string {
  const plain = line.replaceAll(/\u001b\[\d+m/g, "")
  return widthOf(plain) <= columns ? line : cutTo(plain, columns)
}
