import type { LogLineView, RunSummaryView } from "../../scheduler/views.ts"
import { cutTo, printable, widthOf } from "../printing/printable.ts"
import { messageOf, stateColour, stateIcon, tookWords } from "../printing/run-rows.ts"
import { nextWords } from "../printing/schedule-rows.ts"
import { type Column, type Paint, tableLines } from "../printing/table.ts"
import { distanceWords, spanWords, wallWords } from "../printing/time-text.ts"
import { attentionOf, type TopData, type TopSections } from "./top-data.ts"
import type { TopRow, TopState } from "./top-keys.ts"

/** The input of one screen. */
export interface ScreenContent {
  readonly shownAddress: string
  readonly zone: string
  readonly data: TopData
  readonly sections: TopSections
  readonly state: TopState
  /** The name of the row that keys act on. */
  readonly chosen: string | null
  readonly log: readonly LogLineView[]
}

export interface ScreenSize {
  readonly paint: Paint
  readonly columns: number
  readonly rows: number
}

export function screenLines(content: ScreenContent, screen: ScreenSize): readonly string[] {
  const { mode } = content.state
  const body = Math.max(3, screen.rows - 4)
  const middle =
    mode.kind === "help"
      ? HELP
      : mode.kind === "logs"
        ? logLines(content, mode.runId, body, screen.paint)
        : listLines(content, body, screen)
  const lines = [...headLines(content, screen.paint), "", ...middle.slice(0, body)]
  return [...lines, footLine(content, screen.paint)].map((line) => cutLine(line, screen.columns))
}

function headLines({ data, shownAddress, zone }: ScreenContent, paint: Paint): readonly string[] {
  const { overview, now, storeMs, lastDay } = data
  const { workers, runs } = overview
  const slots = `${workers.running}/${workers.slots} slots`
  const silent = workers.silent === 0 ? "" : paint("red", `, ${workers.silent} silent`)
  const ended = lastDay.succeeded + lastDay.failed
  const share = Math.floor((lastDay.succeeded / ended) * 100)
  const success = ended === 0 ? "" : `   success ${share} % of ${ended} in 24 h`
  const time = wallWords(now, zone, now).split(" ").at(-1)!
  return [
    `${paint("bold", "belfry top")}  ${printable(shownAddress)}  store ${storeMs.toFixed(0)} ms  ${time} ${zone}`,
    `workers ${workers.online} (${slots})${silent}   pending ${runs.pending}   running ${runs.running}   failed ${runs.failed}${success}`,
  ]
}

function listLines(
  content: ScreenContent,
  height: number,
  { paint, columns }: ScreenSize,
): readonly string[] {
  const { data, sections, zone, chosen } = content
  const attention = attentionOf(data).slice(0, 3)
  const room = Math.max(2, Math.floor((height - 5 - (attention.length > 0 ? attention.length + 2 : 0)) / 3))
  const section = (rows: readonly TopRow[], shown: readonly Column<TopRow>[]) =>
    sectionLines(rows, shown, { chosen, room, paint, columns })
  const filter = content.state.filter === "" ? "" : `  matching "${printable(content.state.filter)}"`
  return [
    ...(attention.length === 0 ? [] : [paint("dim", "ATTENTION")]),
    ...attention.map((text) => `${paint("yellow", "!")} ${printable(text)}`),
    ...(attention.length === 0 ? [] : [""]),
    paint("dim", `RUNNING AND PENDING (${sections.unfinished.length})${filter}`),
    ...section(sections.unfinished, unfinishedColumns(data)),
    "",
    paint(
      "dim",
      `SCHEDULES (${sections.schedules.length}${data.hasMoreSchedules ? "+" : ""}), by ${content.state.sort}${filter}`,
    ),
    ...section(sections.schedules, scheduleColumns(zone, data.now)),
    "",
    paint("dim", `RECENT${filter}`),
    ...section(sections.recent, recentColumns(data.now)),
  ]
}

/** A table without headers. With wide ids a row takes several lines, and fewer rows are shown. */
function sectionLines(
  rows: readonly TopRow[],
  shown: readonly Column<TopRow>[],
  about: { chosen: string | null; room: number; paint: Paint; columns: number },
): readonly string[] {
  const { chosen, room, paint, columns } = about
  const near = around(rows, chosen, room)
  const { body } = tableLines(near, shown, { width: columns, paint, hasHeaders: false, indent: "  " })
  const most = Math.max(1, ...body.map((lines) => lines.length))
  return around(near, chosen, Math.max(1, Math.floor(room / most))).flatMap((row) => {
    const mark = row.name === chosen ? paint("bold", "›") : " "
    return body[near.indexOf(row)]!.map((line, index) => `${index === 0 ? mark : " "} ${line}`)
  })
}

/** The rows that fit, including the chosen row. */
function around(rows: readonly TopRow[], chosen: string | null, room: number): readonly TopRow[] {
  const at = rows.findIndex(({ name }) => name === chosen)
  const from = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room))
  return rows.slice(from, from + room)
}

const STATE: Column<TopRow> = {
  header: "",
  text: ({ run }) => stateIcon(run!.state),
  paint: ({ run }) => stateColour(run!.state),
}
const RUN_ID: Column<TopRow> = { header: "", text: ({ run }) => run!.id, isId: true }

function unfinishedColumns(data: TopData): readonly Column<TopRow>[] {
  const meanWords = (run: RunSummaryView) => {
    const ms = data.means.of(run)
    return ms === null ? "" : `mean ${spanWords(ms)}`
  }
  return [
    STATE,
    RUN_ID,
    { header: "", text: ({ run }) => tookWords(run!, data.now), isRight: true },
    { header: "", text: ({ run }) => meanWords(run!), dropOrder: 2 },
    { header: "", text: ({ run }) => run!.workerId ?? "", dropOrder: 1 },
    { header: "", text: ({ run }) => progressWords(run!), dropOrder: 3 },
  ]
}

function progressWords(run: RunSummaryView): string {
  return `${run.progress === null ? "" : `${barOf(run.progress.fraction)} `}${messageOf(run)}`
}

function barOf(fraction: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * 10)
  return "█".repeat(full) + "░".repeat(10 - full)
}

function scheduleColumns(zone: string, now: number): readonly Column<TopRow>[] {
  return [
    { header: "", text: ({ schedule }) => schedule!.id, isId: true },
    { header: "", text: ({ schedule }) => nextWords(schedule!, zone, now) },
    {
      header: "",
      text: ({ schedule }) => (["ok", "new"].includes(schedule!.state) ? "" : schedule!.state),
      paint: () => "yellow",
    },
    { header: "", text: ({ schedule }) => schedule!.words, dropOrder: 1 },
  ]
}

function recentColumns(now: number): readonly Column<TopRow>[] {
  const ago = ({ completedAt }: RunSummaryView) =>
    completedAt === null ? "" : distanceWords(completedAt.getTime(), now)
  return [
    STATE,
    RUN_ID,
    { header: "", text: ({ run }) => ago(run!), isRight: true },
    { header: "", text: ({ run }) => messageOf(run!), dropOrder: 1 },
  ]
}

function logLines({ log }: ScreenContent, runId: string, height: number, paint: Paint): readonly string[] {
  const head = `${paint("bold", "Log of")} ${printable(runId)}`
  if (log.length === 0) return [head, "", paint("dim", "No log lines yet.")]
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
  "  p          pause or resume the schedule",
  "  t          trigger the schedule: one run, now",
  "  c          cancel the chosen run; asks for confirmation",
  "  l  Enter   show the log of the run, or of the schedule's newest run",
  "  f  /       filter by id, task or description; Escape removes the filter",
  "  s          sort schedules by next run, by id or by last run",
  "  ?  h       this help",
  "  q  Ctrl-C  quit",
]

const KEYS = "↑↓ choose  p pause  t trigger  c cancel  l log  f filter  s sort  ? help  q quit"

function footLine({ state }: ScreenContent, paint: Paint): string {
  const { mode, message, filter } = state
  if (mode.kind === "filter") return `Filter: ${printable(filter)}█  (Enter keeps it, Escape cancels)`
  if (mode.kind === "cancel") return paint("yellow", `Cancel ${printable(mode.runId)}? [y/N]`)
  if (mode.kind !== "list") return paint("dim", "Any key goes back.")
  return message === "" ? paint("dim", KEYS) : printable(message)
}

/** Cuts a line to the width of the screen. Colour codes don't count. */
function cutLine(line: string, columns: number): string {
  const plain = line.replaceAll(/\u001b\[\d+m/g, "")
  return widthOf(plain) <= columns ? line : cutTo(plain, columns)
}
