import type { LogLineView, RunView } from "../scheduler/views.ts"
import { cutTo, printable, widthOf } from "./printable.ts"
import { messageOf, stateColour, stateIcon, tookWords } from "./run-rows.ts"
import { nextWords, statusOf } from "./schedule-rows.ts"
import type { Paint } from "./table.ts"
import { distanceWords, spanWords, wallWords } from "./time-words.ts"
import type { TopRow, TopState } from "./top-keys.ts"
import { attentionOf, type Shelves, type Sight, typicalMs } from "./top-sight.ts"
import { isOnline } from "./worker-rows.ts"

/** All that a picture is drawn from. */
export interface Picture {
  readonly place: string
  readonly zone: string
  readonly sight: Sight
  readonly shelves: Shelves
  readonly state: TopState
  /** The name of the row that keys are for. */
  readonly chosen: string | null
  readonly log: readonly LogLineView[]
}

export interface Canvas {
  readonly paint: Paint
  readonly columns: number
  readonly rows: number
}

export function pictureLines(picture: Picture, canvas: Canvas): readonly string[] {
  const { mode } = picture.state
  const body = Math.max(3, canvas.rows - 4)
  const middle =
    mode.kind === "help"
      ? HELP
      : mode.kind === "logs"
        ? logLines(picture, mode.runId, body, canvas.paint)
        : listLines(picture, body, canvas.paint)
  const lines = [...headLines(picture, canvas.paint), "", ...middle.slice(0, body)]
  return [...lines, footLine(picture, canvas.paint)].map((line) => cutLine(line, canvas.columns))
}

function headLines({ sight, place, zone }: Picture, paint: Paint): readonly string[] {
  const { workers, counts, now, storeMs, recent } = sight
  const online = workers.filter(isOnline)
  const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
  const slots = `${sum(online.map(({ running }) => running))}/${sum(online.map((worker) => worker.slots))} slots`
  const silent =
    online.length === workers.length ? "" : paint("red", `, ${workers.length - online.length} silent`)
  const ended = recent.filter(({ state }) => state === "succeeded" || state === "failed")
  const good = ended.filter(({ state }) => state === "succeeded").length
  const success =
    ended.length === 0 ? "" : `   success ${Math.floor((good / ended.length) * 100)} % of ${ended.length}`
  const time = wallWords(now, zone, now).split(" ").at(-1)!
  return [
    `${paint("bold", "belfry top")}  ${printable(place)}  store ${storeMs.toFixed(0)} ms  ${time} ${zone}`,
    `workers ${online.length} (${slots})${silent}   pending ${counts.pending}   running ${counts.running}   failed ${counts.failed}${success}`,
  ]
}

function listLines(picture: Picture, height: number, paint: Paint): readonly string[] {
  const { sight, shelves, zone, chosen } = picture
  const attention = attentionOf(sight).slice(0, 3)
  const room = Math.max(2, Math.floor((height - 5 - (attention.length > 0 ? attention.length + 2 : 0)) / 3))
  const shelf = (rows: readonly TopRow[], line: (row: TopRow) => string) =>
    around(rows, chosen, room).map((row) => `${row.name === chosen ? paint("bold", "›") : " "} ${line(row)}`)
  const filter = picture.state.filter === "" ? "" : `  like "${printable(picture.state.filter)}"`
  return [
    ...(attention.length === 0 ? [] : [paint("dim", "ATTENTION")]),
    ...attention.map((text) => `${paint("yellow", "!")} ${printable(text)}`),
    ...(attention.length === 0 ? [] : [""]),
    paint("dim", `RUNNING AND WAITING (${shelves.unfinished.length})${filter}`),
    ...shelf(shelves.unfinished, ({ run }) => runLine(run!, sight, paint)),
    "",
    paint("dim", `SCHEDULES (${shelves.schedules.length}), by ${picture.state.sort}${filter}`),
    ...shelf(shelves.schedules, (row) => scheduleLine(row, zone, sight.now, paint)),
    "",
    paint("dim", `LATELY${filter}`),
    ...shelf(shelves.recent, ({ run }) => recentLine(run!, sight.now, paint)),
  ]
}

/** As many as there is room for, with the chosen one among them. */
function around(rows: readonly TopRow[], chosen: string | null, room: number): readonly TopRow[] {
  const at = rows.findIndex(({ name }) => name === chosen)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room))
  return rows.slice(from, from + room)
}

function runLine(run: RunView, sight: Sight, paint: Paint): string {
  const took = tookWords(run, sight.now).padStart(9)
  const typical = typicalMs(sight, run)
  const usual = (typical === null ? "" : `~${spanWords(typical)}`).padEnd(10)
  const bar = run.progress === null ? "" : `${barOf(run.progress.fraction)} `
  return `${paint(stateColour(run.state), stateIcon(run.state))} ${pad(run.id, 42)} ${took} ${usual} ${pad(run.workerId ?? "", 22)} ${bar}${printable(messageOf(run))}`
}

function barOf(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * 10)
  return "█".repeat(full) + "░".repeat(10 - full)
}

function scheduleLine({ schedule }: TopRow, zone: string, now: number, paint: Paint): string {
  const status = statusOf(schedule!)
  const state = status === "active" ? "" : paint("yellow", ` ${status}`)
  return `${pad(schedule!.id, 28)} ${pad(schedule!.words, 38)} ${printable(nextWords(schedule!, zone, now))}${state}`
}

function recentLine(run: RunView, now: number, paint: Paint): string {
  const ago = run.completedAt === null ? "" : distanceWords(run.completedAt.getTime(), now)
  return `${paint(stateColour(run.state), stateIcon(run.state))} ${pad(run.id, 42)} ${ago.padStart(13)}  ${printable(messageOf(run))}`
}

function logLines({ log }: Picture, runId: string, height: number, paint: Paint): readonly string[] {
  const head = `${paint("bold", "Log of")} ${printable(runId)}`
  if (log.length === 0) return [head, "", paint("dim", "Nothing was written yet.")]
  const lines = log.map(({ at, attempt, level, message }) => {
    const colour = level === "error" ? "red" : level === "warn" ? "yellow" : null
    const time = at.toISOString().slice(11, 23)
    return `${paint("dim", `${time} #${attempt}`)} ${paint(colour, level.padEnd(5))} ${printable(message)}`
  })
  return [head, "", ...lines.slice(Math.max(0, lines.length - (height - 2)))]
}

const HELP: readonly string[] = [
  "KEYS",
  "  ↑ ↓  k j   choose a run or a schedule",
  "  p          pause or resume its schedule",
  "  t          trigger its schedule: one run, now",
  "  c          cancel the run that is chosen; asks first",
  "  l  Enter   the log of the run, or of the schedule's newest",
  "  f  /       show only what has these letters; Escape shows all again",
  "  s          sort schedules by what comes next, by key, by what ran last",
  "  ?  h       this help",
  "  q  Ctrl-C  quit",
]

const KEYS = "[↑↓] choose  [p]ause  [t]rigger  [c]ancel  [l]og  [f]ilter  [s]ort  [?] help  [q]uit"

function footLine({ state }: Picture, paint: Paint): string {
  const { mode, said, filter } = state
  if (mode.kind === "filter") return `Filter: ${printable(filter)}█  (Enter keeps it, Escape takes it back)`
  if (mode.kind === "cancel") return paint("yellow", `Cancel ${printable(mode.runId)}? [y/N]`)
  if (mode.kind !== "list") return paint("dim", "Any key goes back.")
  return said === "" ? paint("dim", KEYS) : printable(said)
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
