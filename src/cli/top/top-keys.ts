import { isFinished } from "../../core/run.ts"
import type { RunSummaryView, ScheduleView } from "../../scheduler/views.ts"

/** What somebody at `top` has chosen so far. */
export interface TopState {
  /** The row, by name: the order changes under the eyes. */
  readonly chosen: string | null
  readonly sort: TopSort
  readonly filter: string
  readonly mode: TopMode
  /** The answer to the last key, until the next. */
  readonly said: string
}

export const SORTS = ["next", "id", "last"] as const
export type TopSort = (typeof SORTS)[number]

export type TopMode =
  | { readonly kind: "list" | "help" }
  | { readonly kind: "filter"; readonly before: string }
  | { readonly kind: "cancel"; readonly runId: string }
  | { readonly kind: "logs"; readonly runId: string }

export const TOP_START: TopState = {
  chosen: null,
  sort: "next",
  filter: "",
  mode: { kind: "list" },
  said: "",
}

/** A line that can be chosen: a run, or a schedule. */
export interface TopRow {
  readonly name: string
  readonly run: RunSummaryView | null
  readonly schedule: ScheduleView | null
}

/** What a key asks for beyond what is on the screen. */
export type TopAction =
  | { readonly kind: "leave" }
  | { readonly kind: "pause" | "trigger" | "newest-log"; readonly scheduleId: string }
  | { readonly kind: "cancel" | "log"; readonly runId: string }

export interface Pressed {
  readonly state: TopState
  readonly action: TopAction | null
}

const LIST = { kind: "list" } as const
const UP: readonly string[] = ["\u001b[A", "\u001bOA", "k"]
const DOWN: readonly string[] = ["\u001b[B", "\u001bOB", "j"]
const ESCAPE = "\u001b"
const ENTER: readonly string[] = ["\r", "\n"]
const INTERRUPT = "\u0003"

/** What a terminal sends at once may be several keys, and a key may be several characters. */
export function keysIn(data: string): readonly string[] {
  return data.match(/\u001b\[[\d;]*[A-Za-z~]|\u001bO[A-Za-z]|[\s\S]/gu) ?? []
}

export function press(before: TopState, rows: readonly TopRow[], key: string): Pressed {
  const state = { ...before, said: "" }
  if (key === INTERRUPT) return { state, action: { kind: "leave" } }
  switch (state.mode.kind) {
    case "filter":
      return { state: typed(state, state.mode.before, key), action: null }
    case "cancel":
      return answered(state, state.mode.runId, key)
    case "list":
      return pressInList(state, rows, key)
    default:
      // Whatever it is, it closes what lies over the list.
      return { state: { ...state, mode: LIST }, action: null }
  }
}

function pressInList(state: TopState, rows: readonly TopRow[], key: string): Pressed {
  if (UP.includes(key)) return stay(moved(state, rows, -1))
  if (DOWN.includes(key)) return stay(moved(state, rows, 1))
  const row = rows[positionIn(rows, state.chosen)]
  switch (key) {
    case "q":
      return { state, action: { kind: "leave" } }
    case "?":
    case "h":
      return stay({ ...state, mode: { kind: "help" } })
    case "f":
    case "/":
      return stay({ ...state, mode: { kind: "filter", before: state.filter } })
    case "s":
      return stay(sortedNext(state))
    case ESCAPE:
      return stay({ ...state, filter: "" })
    default:
      return row === undefined ? stay(state) : pressOnRow(state, row, key)
  }
}

function pressOnRow(state: TopState, row: TopRow, key: string): Pressed {
  const scheduleId = row.schedule?.id ?? row.run?.scheduleId ?? null
  if (key === "p" || key === "t") {
    if (scheduleId === null) return say(state, `${row.run!.id} is of no schedule.`)
    return { state, action: { kind: key === "p" ? "pause" : "trigger", scheduleId } }
  }
  if (key === "l" || ENTER.includes(key)) {
    return row.run === null
      ? { state, action: { kind: "newest-log", scheduleId: scheduleId! } }
      : { state, action: { kind: "log", runId: row.run.id } }
  }
  if (key !== "c") return stay(state)
  if (row.run === null) return say(state, "Choose a run to cancel: they are above the schedules.")
  if (isFinished(row.run.state)) return say(state, `${row.run.id} is ${row.run.state} already.`)
  return stay({ ...state, mode: { kind: "cancel", runId: row.run.id } })
}

/** Only a yes is one. */
function answered(state: TopState, runId: string, key: string): Pressed {
  const isYes = key === "y" || key === "Y"
  const after = { ...state, mode: LIST, said: isYes ? "" : "Not cancelled." }
  return { state: after, action: isYes ? { kind: "cancel", runId } : null }
}

/** Enter keeps it, Escape takes it back; the list follows each letter. */
function typed(state: TopState, before: string, key: string): TopState {
  if (ENTER.includes(key)) return { ...state, mode: LIST }
  if (key === ESCAPE) return { ...state, mode: LIST, filter: before }
  if (key === "\u007f" || key === "\b") return { ...state, filter: [...state.filter].slice(0, -1).join("") }
  const isText = !/\p{Control}/u.test(key)
  return isText && state.filter.length < 60 ? { ...state, filter: state.filter + key } : state
}

function moved(state: TopState, rows: readonly TopRow[], by: number): TopState {
  const at = Math.min(Math.max(0, positionIn(rows, state.chosen) + by), rows.length - 1)
  return { ...state, chosen: rows[at]?.name ?? null }
}

/** One that is gone leaves the first in its place. */
export function positionIn(rows: readonly TopRow[], chosen: string | null): number {
  return Math.max(
    0,
    rows.findIndex(({ name }) => name === chosen),
  )
}

function sortedNext(state: TopState): TopState {
  const sort = SORTS[(SORTS.indexOf(state.sort) + 1) % SORTS.length]!
  return {
    ...state,
    sort,
    said: `Schedules by ${{ next: "what comes next", id: "id", last: "what ran last" }[sort]}`,
  }
}

function stay(state: TopState): Pressed {
  return { state, action: null }
}

function say(state: TopState, said: string): Pressed {
  return { state: { ...state, said }, action: null }
}
