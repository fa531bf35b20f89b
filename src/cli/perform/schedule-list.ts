import type { ScheduleView } from "../../scheduler/views.ts"
import { ordered } from "../applying/schedule-order.ts"
import type { ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { formatOf, hint, jsonLine, pickedFrom, showAll, warn } from "../printing/output.ts"
import { scheduleRows, statusOf } from "../printing/schedule-rows.ts"
import { allSchedules } from "../session/lookups.ts"
import { offeredTasks, tellUnoffered } from "../session/offered-tasks.ts"
import { withScheduler } from "../session/session.ts"
import { untilInterrupted } from "../terminal/waiting.ts"

const STATUSES = ["active", "paused", "disabled", "finished", "failing", "overridden", "broken"] as const

const READ_MAX = 100_000

export async function listSchedules(call: Call): Promise<ExitCode | undefined> {
  const { flags, io } = call
  const status = flags.choice("status", STATUSES)
  const sort = flags.choice("sort", ["key", "next", "last"]) ?? "key"
  const withinMs = flags.durationMs("next")
  const limit = flags.whole("limit") ?? 1_000
  return withScheduler(call, async ({ scheduler }) => {
    const read = async () => {
      const all = await allSchedules(scheduler, filterOf(call), READ_MAX)
      const until = withinMs === undefined ? Number.POSITIVE_INFINITY : io.clock.now() + withinMs
      const due = all.filter(
        ({ nextRunAt }) =>
          withinMs === undefined || (nextRunAt?.getTime() ?? Number.POSITIVE_INFINITY) <= until,
      )
      const chosen = withStatus(due, status)
      const more = Math.max(0, chosen.length - limit)
      const isCut = all.length >= READ_MAX
      return { found: ordered(chosen, sort).slice(0, limit), more, isCut, none: noneWords(all.length) }
    }
    if (flags.isOn("watch")) return watch(call, async () => (await read()).found)
    const { found, more, isCut, none } = await read()
    await showAll(call, found, scheduleRows(call, none))
    if (isCut)
      warn(call, "Only the first 100,000 schedules were read. Narrow them down: --tag, --task or --owner.")
    if (more > 0) hint(call, `${more} more are not shown: --limit ${found.length + more}`)
    tellUnoffered(call, found, await offeredTasks(scheduler))
    return undefined
  })
}

/** A row for each that is new or has changed, until Ctrl-C. */
async function watch(call: Call, read: () => Promise<readonly ScheduleView[]>): Promise<ExitCode> {
  const seen = new Map<string, string>()
  const stampOf = ({ revision, nextRunAt, lastRunId, paused }: ScheduleView) =>
    JSON.stringify([revision, nextRunAt, lastRunId, paused])
  hint(call, "Watching; Ctrl-C ends it.")
  let hasHeaders = !call.flags.isOff("headers")
  return untilInterrupted(call, 1_000, async () => {
    const changed = (await read()).filter((schedule) => seen.get(schedule.id) !== stampOf(schedule))
    for (const schedule of changed) seen.set(schedule.id, stampOf(schedule))
    const isLines = formatOf(call) === "json" || formatOf(call) === "jsonl"
    if (isLines) for (const schedule of pickedFrom(call, changed)) call.io.out(jsonLine(schedule))
    else if (changed.length > 0)
      await showAll({ ...call, flags: call.flags.with({ headers: hasHeaders }) }, changed, scheduleRows(call))
    if (changed.length > 0) hasHeaders = false
    return null
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

function withStatus(
  schedules: readonly ScheduleView[],
  status: (typeof STATUSES)[number] | undefined,
): readonly ScheduleView[] {
  if (status === undefined) return schedules
  if (status === "overridden") return schedules.filter(({ isOverridden }) => isOverridden)
  if (status === "failing") return schedules.filter(({ failuresInARow }) => failuresInARow > 0)
  return schedules.filter((schedule) => statusOf(schedule) === status)
}

function noneWords(count: number): string {
  return count > 0
    ? "No schedule is like that."
    : "There are no schedules yet. Make one: belfry schedule create --help"
}
