import { ACTIVE_STATES, SCHEDULE_STATES, type ScheduleState } from "../../core/schedule/schedule-state.ts"
import type { Client } from "../../scheduler/client.ts"
import type { ScheduleQuery } from "../../scheduler/schedules/steering-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { ExitCode } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { formatOf, hint, jsonLine, pickedFrom, showAll } from "../printing/output.ts"
import { scheduleRows } from "../printing/schedule-rows.ts"
import { withScheduler } from "../session/session.ts"
import { warnOfUnoffered } from "../session/unoffered-tasks.ts"
import { untilInterrupted } from "../terminal/waiting.ts"

/** The states of a schedule, and two further filters: all active states, and schedules overridden by hand. */
const STATES = [...SCHEDULE_STATES, "active", "overridden"] as const

const ORDERS = { id: "id", next: "nextRunAt", last: "lastRunAt" } as const

export async function listSchedules(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const limit = flags.whole("limit") ?? 1_000
  const state = flags.choice("status", STATES)
  const query = queryOf(call, state)
  const matches = ({ isOverridden }: ScheduleView) => state !== "overridden" || isOverridden
  return withScheduler(call, async ({ scheduler }) => {
    const read = () => readMatching(call, scheduler, { query, limit: limit + 1, matches })
    if (flags.isOn("watch")) return watch(call, async () => (await read()).slice(0, limit))
    const schedules = await read()
    const shown = schedules.slice(0, limit)
    const none = schedules.length > 0 || hasFilter(query, state) ? NO_MATCH : NONE_YET
    await showAll(call, shown, scheduleRows(call, none))
    const isCountable = state !== "overridden" && flags.text("next") === undefined
    if (schedules.length > limit)
      hint(call, isCountable ? await moreWords(scheduler, query, limit) : MORE_MATCH)
    await warnOfUnoffered(call, scheduler, shown)
    return undefined
  })
}

const NO_MATCH = "No schedule matches."
/** Stores can't count by what only this command compares: whether a schedule is overridden, and how soon it runs. */
const MORE_MATCH = "More schedules match. To show more: --limit COUNT"
const NONE_YET = "There are no schedules yet. Create one: belfry schedule create --help"

function queryOf({ flags }: Call, state: (typeof STATES)[number] | undefined): ScheduleQuery {
  const isStored = state !== undefined && state !== "active" && state !== "overridden"
  const states: readonly ScheduleState[] | undefined =
    state === "active" ? ACTIVE_STATES : isStored ? [state] : undefined
  const within = flags.durationMs("next")
  const order = within === undefined ? (flags.choice("sort", ["id", "next", "last"]) ?? "id") : "next"
  const parts: { readonly [Name in keyof ScheduleQuery]: ScheduleQuery[Name] | undefined } = {
    task: flags.text("task"),
    tag: flags.text("tag"),
    owner: flags.text("owner"),
    text: flags.text("search"),
    state: states,
    order: ORDERS[order],
  }
  return Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined))
}

function hasFilter({ order: _order, ...filter }: ScheduleQuery, state: string | undefined): boolean {
  return Object.keys(filter).length > 0 || state !== undefined
}

/** Counts by the filters that the store supports. Counting stops at 10,000 per state. */
async function moreWords({ schedules }: Client, query: ScheduleQuery, limit: number): Promise<string> {
  const { order: _order, ...filter } = query
  const total = Object.values(await schedules.count(filter)).reduce((sum, count) => sum + count, 0)
  return `${total - limit} more schedules are not shown. To show them: --limit ${total}`
}

const PAGE = 500

async function readMatching(
  { flags, io }: Call,
  { schedules }: Client,
  about: { query: ScheduleQuery; limit: number; matches: (schedule: ScheduleView) => boolean },
): Promise<readonly ScheduleView[]> {
  const { query, limit, matches } = about
  const within = flags.durationMs("next")
  const until = within === undefined ? null : io.clock.now() + within
  const matching: ScheduleView[] = []
  for await (const schedule of schedules.list({ ...query, limit: Math.min(PAGE, limit) })) {
    // Sorted by next run. Schedules without a next run come last.
    if (until !== null && (schedule.nextRunAt === null || schedule.nextRunAt.getTime() > until)) break
    if (matches(schedule) && matching.push(schedule) >= limit) break
  }
  return matching
}

/** Prints a row for each new or changed schedule, until Ctrl-C. */
async function watch(call: Call, read: () => Promise<readonly ScheduleView[]>): Promise<ExitCode> {
  const seen = new Map<string, string>()
  const stampOf = ({ revision, nextRunAt, lastRunId, paused }: ScheduleView) =>
    JSON.stringify([revision, nextRunAt, lastRunId, paused])
  hint(call, "Watching. Press Ctrl-C to stop.")
  let hasHeaders = !call.flags.isOff("headers")
  return untilInterrupted(call, 1_000, async () => {
    const changed = (await read()).filter((schedule) => seen.get(schedule.id) !== stampOf(schedule))
    for (const schedule of changed) seen.set(schedule.id, stampOf(schedule))
    const isJson = formatOf(call) === "json" || formatOf(call) === "jsonl"
    if (isJson) for (const schedule of pickedFrom(call, changed)) call.io.out(jsonLine(schedule))
    else if (changed.length > 0)
      await showAll({ ...call, flags: call.flags.with({ headers: hasHeaders }) }, changed, scheduleRows(call))
    if (changed.length > 0) hasHeaders = false
    return null
  })
}
