import type { ScheduleView } from "../../scheduler/views.ts"

/** The orders of the schedules in `top`. The key that changes the order goes through them in this order. */
export const SCHEDULE_ORDERS = ["next", "id", "last"] as const
export type ScheduleOrder = (typeof SCHEDULE_ORDERS)[number]

/** The names of these orders in the API. */
export const ORDERS = { id: "id", next: "nextRunAt", last: "lastRunAt" } as const satisfies Record<
  ScheduleOrder,
  string
>

/**
 * For the time between a key that changes the order and the next read. `id`: ascending. `next`: soonest first. `last`: most recent
 * first.
 */
export function ordered(schedules: readonly ScheduleView[], by: ScheduleOrder): readonly ScheduleView[] {
  if (by === "id") return [...schedules].sort((a, b) => (a.id < b.id ? -1 : 1))
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
