import { isFinished } from "../../core/run/run.ts"
import type { RunSummaryView, ScheduleView } from "../../scheduler/views.ts"
import { SCHEDULE_ORDERS, type ScheduleOrder } from "./schedule-order.ts"

/** The choices of the user of `top`. */
export interface TopState {
  /** The name of the chosen row. Not an index, because the order changes. */
  readonly chosen: string | null
  readonly sort: ScheduleOrder
  readonly filter: string
  readonly mode: TopMode
  /** The message about the last key, until the next key. */
  readonly message: string
}

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
  message: "",
}

/** A row that can be chosen: a run or a schedule. */
export interface TopRow {
  readonly name: string
  readonly run: RunSummaryView | null
  readonly schedule: ScheduleView | null
}

/** An action of a key that needs the scheduler, or ends the program. */
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

/** Splits the input of a terminal into keys. The input may hold several keys, and a key may have several characters. */
export function keysIn(data: string): readonly string[] {
  return data.match(/\u001b\[[\d;]*[A-Za-z~]|\u001bO[A-Za-z]|[\s\S]/gu) ?? []
}

export function press(before: TopState, rows: readonly TopRow[], key: string): Pressed {
  const state = { ...before, message: "" }
  if (key === INTERRUPT) return { state, action: { kind: "leave" } }
  switch (state.mode.kind) {
    case "filter":
      return { state: typed(state, state.mode.before, key), action: null }
    case "cancel":
      return answered(state, state.mode.runId, key)
    case "list":
      return pressInList(state, rows, key)
    default:
      // Any key closes the help or the log.
      return { state: { ...state, mode: LIST }, action: null }
  }
}

function pressInList(state: TopState, rows: readonly TopRow[], key: string): Pressed {
  if (UP.includes(key)) return withoutAction(moved(state, rows, -1))
  if (DOWN.includes(key)) return withoutAction(moved(state, rows, 1))
  const row = rows[positionIn(rows, state.chosen)]
  switch (key) {
    case "q":
      return { state, action: { kind: "leave" } }
    case "?":
    case "h":
      return withoutAction({ ...state, mode: { kind: "help" } })
    case "f":
    case "/":
      return withoutAction({ ...state, mode: { kind: "filter", before: state.filter } })
    case "s":
      return withoutAction(sortedNext(state))
    case ESCAPE:
      return withoutAction({ ...state, filter: "" })
    default:
      return row === undefined ? withoutAction(state) : pressOnRow(state, row, key)
  }
}

function pressOnRow(state: TopState, row: TopRow, key: string): Pressed {
  const scheduleId = row.schedule?.id ?? row.run?.scheduleId ?? null
  if (key === "p" || key === "t") {
    if (scheduleId === null) return withMessage(state, `${row.run!.id} has no schedule.`)
    return { state, action: { kind: key === "p" ? "pause" : "trigger", scheduleId } }
  }
  if (key === "l" || ENTER.includes(key)) {
    return row.run === null
      ? { state, action: { kind: "newest-log", scheduleId: scheduleId! } }
      : { state, action: { kind: "log", runId: row.run.id } }
  }
  if (key !== "c") return withoutAction(state)
  if (row.run === null) return withMessage(state, "Choose a run to cancel. Runs are above the schedules.")
  if (isFinished(row.run.state)) return withMessage(state, `${row.run.id} is already ${row.run.state}.`)
  return withoutAction({ ...state, mode: { kind: "cancel", runId: row.run.id } })
}

/** Only y and Y mean yes. */
function answered(state: TopState, runId: string, key: string): Pressed {
  const isYes = key === "y" || key === "Y"
  const after = { ...state, mode: LIST, message: isYes ? "" : "Not cancelled." }
  return { state: after, action: isYes ? { kind: "cancel", runId } : null }
}

/** Edits the filter. Enter keeps it, Escape restores the previous one. The list is filtered with each letter. */
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

/** The position of the chosen row. If that row is gone: the first row. */
export function positionIn(rows: readonly TopRow[], chosen: string | null): number {
  return Math.max(
    0,
    rows.findIndex(({ name }) => name === chosen),
  )
}

function sortedNext(state: TopState): TopState {
  const sort = SCHEDULE_ORDERS[(SCHEDULE_ORDERS.indexOf(state.sort) + 1) % SCHEDULE_ORDERS.length]!
  return {
    ...state,
    sort,
    message: `Schedules by ${{ next: "next run", id: "id", last: "last run" }[sort]}`,
  }
}

function withoutAction(state: TopState): Pressed {
  return { state, action: null }
}

function withMessage(state: TopState, message: string): Pressed {
  return { state: { ...state, message }, action: null }
}
