import type { Client } from "../../scheduler/client.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { instantFlag } from "../parsing/definition-flags.ts"
import { hint, isForPeople, showAll, warn } from "../printing/output.ts"
import { printable } from "../printing/printable.ts"
import { scheduleRows } from "../printing/schedule-rows.ts"
import { allSchedules, scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"

export function pauseSchedules(call: Call): Promise<undefined> {
  return steer(call, "pause", (schedules) => {
    // For one schedule in its own zone, for several in the zone of the user.
    const zone = schedules.length === 1 ? schedules[0]!.timezone : call.io.zone
    const until = instantFlag(call, "until", zone)
    return until === undefined ? {} : { until }
  })
}

export function resumeSchedules(call: Call): Promise<undefined> {
  return steer(call, "resume", () => ({}))
}

export async function deleteSchedules(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const schedules = await selectedSchedules(call, scheduler)
    const ids = schedules.map(({ id }) => id)
    if (call.flags.isOn("dryRun")) return hint(call, `Would delete ${ids.join(", ")}. Nothing was changed.`)
    const owned = schedules.filter(({ owner }) => owner !== null)
    for (const { id, owner } of owned)
      hint(
        call,
        `${id} is declared in code (owner ${owner}) and will be created again when that program starts.`,
      )
    await confirm(
      call,
      `Delete ${ids.length === 1 ? ids[0] : `${ids.length} schedules`}? Runs are kept.`,
      ids.length,
    )
    const report = await scheduler.schedules.delete(ids, becauseOf(call))
    for (const id of report.ids) call.io.out(`${printable(id)}\n`)
    hint(call, `Deleted ${report.ids.length === 1 ? report.ids[0] : `${report.ids.length} schedules`}.`)
  })
  return undefined
}

async function steer(
  call: Call,
  verb: Verb,
  aboutOf: (schedules: readonly ScheduleView[]) => { until?: Date },
): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const found = await selectedSchedules(call, scheduler)
    // With --tag or --all, only the schedules that would change are changed and shown. Schedules given by id are all shown.
    const isFilter = call.args.length === 0
    const targets = isFilter ? found.filter(({ paused }) => (paused === null) === (verb === "pause")) : found
    const none = noneWords(verb, found.length > 0 && isFilter)
    const isDry = call.flags.isOn("dryRun")
    if (!isDry && (targets.length > 100 || (isFilter && targets.length > 0)))
      await confirm(call, `${capitalized(verb)} ${these(targets)}?`, targets.length)
    const ids = targets.map(({ id }) => id)
    const because = { ...becauseOf(call), ...aboutOf(targets) }
    const { refused } = await scheduler.schedules[verb](ids, because)
    for (const { message } of refused) warn(call, message)
    if (isDry) hint(call, `${targets.length === 0 ? none : wouldWords(verb, targets)} Nothing was changed.`)
    if (isDry && targets.length === 0 && isForPeople(call)) return
    await showAll(call, isDry ? targets : await readSchedules(scheduler, ids), scheduleRows(call, none))
  })
  return undefined
}

type Verb = "pause" | "resume"

function noneWords(verb: Verb, isMatched: boolean): string {
  if (!isMatched) return "No schedule matches."
  return verb === "pause" ? "All matching schedules are paused already." : "No matching schedule is paused."
}

function wouldWords(verb: Verb, targets: readonly ScheduleView[]): string {
  const paused = targets.filter(({ paused }) => paused !== null)
  const running = targets.filter(({ paused }) => paused === null)
  const sentences =
    verb === "pause"
      ? [
          running.length > 0 && `Would pause ${these(running)}.`,
          paused.length > 0 && `Would replace the pause of ${these(paused)}.`,
        ]
      : [
          paused.length > 0 && `Would resume ${these(paused)}.`,
          running.length > 0 && `Not paused: ${these(running)}.`,
        ]
  return sentences.filter((sentence) => sentence !== false).join(" ")
}

function these(schedules: readonly ScheduleView[]): string {
  return schedules.length === 1 ? schedules[0]!.id : `${schedules.length} schedules`
}

function capitalized(verb: Verb): string {
  return verb === "pause" ? "Pause" : "Resume"
}

async function readSchedules(
  { schedules }: Client,
  ids: readonly string[],
): Promise<readonly ScheduleView[]> {
  const read: ScheduleView[] = []
  for (const id of ids) {
    const schedule = await schedules.get(id)
    if (schedule !== null) read.push(schedule)
  }
  return read
}

/** The schedules given by id, by tag, or with --all. One of these is required. */
async function selectedSchedules(call: Call, client: Client): Promise<readonly ScheduleView[]> {
  const { args, flags } = call
  const tag = flags.text("tag")
  if (args.length === 0 && tag !== undefined) return allSchedules(client, { tag })
  if (args.length === 0 && flags.isOn("all")) return allSchedules(client)
  if (args.length === 0)
    throw new CliError(EXIT.usage, "No schedule was given.", "Give ids, -l TAG or --all.")
  const found: ScheduleView[] = []
  for (const id of args) found.push(await scheduleOf(client, id))
  return found
}

/** The reason and the author, stored with the change. */
export function becauseOf({ flags, io }: Call): { reason?: string; by: string } {
  const reason = flags.text("reason")
  return { by: flags.text("by") ?? io.user, ...(reason === undefined ? {} : { reason }) }
}
