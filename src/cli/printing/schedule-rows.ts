import type { ScheduleState } from "../../core/schedule/schedule-state.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../parsing/command.ts"
import type { RowFormat } from "./output.ts"
import type { Colour, Column } from "./table.ts"
import { bothWords, distanceWords, isoOrDash } from "./time-text.ts"

export const STATE_COLOURS: Readonly<Record<ScheduleState, Colour | null>> = {
  ok: "green",
  new: null,
  failing: "red",
  overdue: "red",
  paused: "yellow",
  disabled: "dim",
  finished: "dim",
  broken: "red",
}

/** Schedules as rows. `-o name` prints ids. */
export function scheduleRows(call: Call, none?: string): RowFormat<ScheduleView> {
  const { io } = call
  const now = io.clock.now()
  const columns: readonly Column<ScheduleView>[] = [
    { header: "ID", text: ({ id }) => id, paint: () => "bold", isId: true },
    { header: "STATE", text: ({ state }) => state, paint: ({ state }) => STATE_COLOURS[state] },
    { header: "TASK", text: ({ task }) => task },
    { header: "WHEN", text: ({ when }) => when, brief: ({ words }) => words },
    { header: "ZONE", text: ({ timezone }) => timezone, dropOrder: 2 },
    {
      header: "NEXT",
      text: ({ nextRunAt }) => isoOrDash(nextRunAt),
      brief: (schedule) => soonWords(schedule, now),
    },
    {
      header: "DUE",
      text: (schedule) => dueWords(schedule, io.zone, now),
      isForPeople: true,
      dropOrder: 1,
    },
    {
      header: "LAST",
      dropOrder: 3,
      text: ({ lastRunAt }) => isoOrDash(lastRunAt),
      brief: ({ lastRunAt }) => (lastRunAt === null ? "never" : distanceWords(lastRunAt.getTime(), now)),
    },
    { header: "RUNS", text: ({ runCount }) => String(runCount), isWide: true, isRight: true },
    {
      header: "PROBLEM",
      text: ({ problems }) => problems.map(({ message }) => message).join(" "),
      paint: () => "red",
      isWide: true,
    },
    { header: "OVERLAP", text: ({ overlap }) => overlap.policy, isWide: true },
    { header: "CATCH-UP", text: ({ catchUp }) => catchUp.policy, isWide: true },
    { header: "OWNER", text: ({ owner }) => owner ?? "-", isWide: true },
    { header: "TAGS", text: ({ tags }) => tags.join(","), isWide: true },
    { header: "DESCRIPTION", text: ({ description }) => description, isWide: true },
  ]
  return { columns, nameOf: ({ id }) => id, ...(none === undefined ? {} : { none }) }
}

/** The time until the next run, or why there is none. */
function soonWords({ nextRunAt, paused, enabled }: ScheduleView, now: number): string {
  if (paused !== null) return paused.until === null ? "when resumed" : "after the pause"
  if (!enabled) return "disabled"
  return nextRunAt === null ? "never" : distanceWords(nextRunAt.getTime(), now)
}

/** The next run in the schedule's zone and in the user's zone. */
function dueWords(
  { nextRunAt, paused, enabled, timezone }: ScheduleView,
  viewer: string,
  now: number,
): string {
  const isHeld = !enabled || (paused !== null && paused.until === null)
  return nextRunAt === null || isHeld ? "" : bothWords(nextRunAt.getTime(), { own: timezone, viewer }, now)
}

/** The time until the next run, and the time of day in both zones. */
export function nextWords(schedule: ScheduleView, viewer: string, now: number): string {
  const [soon, due] = [soonWords(schedule, now), dueWords(schedule, viewer, now)]
  return due === "" ? soon : `${soon}, ${due}`
}

/** The triggers in words, with the zone unless all are intervals. */
export function whenWords({ words, timezone, triggers }: ScheduleView): string {
  return triggers.every(({ kind }) => kind === "every") ? words : `${words} (${timezone})`
}

/** The note for a change by hand of a schedule declared in code. */
export function overrideWords(id: string, owner: string): string {
  return `${id} is declared in code (owner ${owner}). The change overrides the code until the declaration in code changes.`
}
