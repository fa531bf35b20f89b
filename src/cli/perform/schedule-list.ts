import type { Scheduler } from "../../scheduler/scheduler.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../command.ts"
import { allSchedules } from "../lookups.ts"
import { showAll } from "../output.ts"
import { scheduleRows, statusOf } from "../schedule-rows.ts"
import { withScheduler } from "../session.ts"

const STATUSES = ["active", "paused", "disabled", "finished", "failing", "overridden", "broken"] as const

export async function listSchedules(call: Call): Promise<undefined> {
  const { flags, io } = call
  const status = flags.choice("status", STATUSES)
  const sort = flags.choice("sort", ["key", "next", "last"]) ?? "key"
  const withinMs = flags.durationMs("next")
  const limit = flags.whole("limit") ?? 1_000
  await withScheduler(call, async ({ scheduler }) => {
    const all = await allSchedules(scheduler, filterOf(call))
    const until = withinMs === undefined ? Number.POSITIVE_INFINITY : io.clock.now() + withinMs
    const due = all.filter(
      ({ nextRunAt }) =>
        withinMs === undefined || (nextRunAt?.getTime() ?? Number.POSITIVE_INFINITY) <= until,
    )
    const chosen = await withStatus(scheduler, due, status)
    await showAll(call, sorted(chosen, sort).slice(0, limit), scheduleRows(call, noneWords(all.length)))
  })
}

function filterOf({ flags }: Call): { task?: string; tag?: string; owner?: string } {
  const [task, tag, owner] = [flags.text("task"), flags.text("tag"), flags.text("owner")]
  return {
    ...(task === undefined ? {} : { task }),
    ...(tag === undefined ? {} : { tag }),
    ...(owner === undefined ? {} : { owner }),
  }
}

async function withStatus(
  scheduler: Scheduler,
  schedules: readonly ScheduleView[],
  status: (typeof STATUSES)[number] | undefined,
): Promise<readonly ScheduleView[]> {
  if (status === undefined) return schedules
  if (status === "overridden") return schedules.filter(({ isOverridden }) => isOverridden)
  if (status !== "failing") return schedules.filter((schedule) => statusOf(schedule) === status)
  const failing: ScheduleView[] = []
  for (const schedule of schedules) {
    const last = schedule.lastRunId === null ? null : await scheduler.runs.get(schedule.lastRunId)
    if (last?.state === "failed") failing.push(schedule)
  }
  return failing
}

function sorted(schedules: readonly ScheduleView[], by: "key" | "next" | "last"): readonly ScheduleView[] {
  if (by === "key") return schedules
  const last = (date: Date | null) => date?.getTime() ?? Number.NEGATIVE_INFINITY
  const next = (date: Date | null) => date?.getTime() ?? Number.POSITIVE_INFINITY
  return [...schedules].sort((a, b) =>
    by === "next"
      ? compare(next(a.nextRunAt), next(b.nextRunAt))
      : compare(last(b.lastRunAt), last(a.lastRunAt)),
  )
}

/** Not a difference: infinity less infinity is no number. */
function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function noneWords(count: number): string {
  return count > 0
    ? "No schedule is like that."
    : "There are no schedules yet. Make one: belfry schedule create --help"
}
