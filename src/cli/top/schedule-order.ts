import type { ScheduleView } from "../../scheduler/views.ts"

export type ScheduleOrder = "id" | "next" | "last"

/** `id`: unchanged, because the input is sorted by id. `next`: soonest first. `last`: most recent first. */
export function ordered(schedules: readonly ScheduleView[], by: ScheduleOrder): readonly ScheduleView[] {
  if (by === "id") return schedules
  const last = (date: Date | null) => date?.getTime() ?? Number.NEGATIVE_INFINITY
  const next = (date: Date | null) => date?.getTime() ?? Number.POSITIVE_INFINITY
  return [...schedules].sort((a, b) =>
    by === "next"
      ? compare(next(a.nextRunAt), next(b.nextRunAt))
      : compare(last(b.lastRunAt), last(a.lastRunAt)),
  )
}

/** Compares instead of subtracting, because infinity minus infinity is NaN. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}
