import type { ScheduleOptions } from "../../core/options/options.ts"
import { unanswered } from "../../core/schedule/schedule-lints.ts"
import { unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { Client } from "../../scheduler/client.ts"
import type { ChangedValue } from "../../scheduler/schedules/changed-values.ts"
import type { ScheduleChanges } from "../../scheduler/schedules/schedule-options.ts"
import type { CreateOptions, UpdateOptions } from "../../scheduler/schedules/steering-options.ts"
import { changesBetween } from "../../scheduler/schedules/view-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { printLints } from "../checks/lints.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { Call } from "../parsing/command.ts"
import { dstFrom } from "../parsing/cron-flags.ts"
import { optionsFrom } from "../parsing/definition-flags.ts"
import { changeWords } from "../printing/changed-values.ts"
import { hint, nextStep, showAll } from "../printing/output.ts"
import { nextWords, overrideWords, scheduleRows } from "../printing/schedule-rows.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
import { warnIfUnknown } from "../session/unoffered-tasks.ts"

export async function createSchedule(call: Call): Promise<undefined> {
  const { flags, io } = call
  const id = call.args[0]!
  const task = flags.required("task", "Give the task to run: --task http, or a task of your configuration.")
  const { payload, ...options } = (await optionsFrom(call, null)) as ScheduleOptions & { payload?: unknown }
  await withScheduler(
    call,
    async ({ scheduler, tasks, isNew, shownAddress }) => {
      const create = {
        ...options,
        task,
        payload,
        startImmediately: flags.isOn("startNow"),
      } as CreateOptions<unknown>
      const paused = flags.isOn("paused") && { reason: "Created paused", by: io.user }
      const view = await scheduler.schedules.create(id, { ...create, paused }, { by: io.user })
      if (flags.isOn("dryRun")) {
        hint(call, `Would create ${id}. Nothing was changed.`)
        return show(call, scheduler, [view])
      }
      if (isNew) hint(call, `Created a new store: ${shownAddress}`)
      await show(call, scheduler, [view])
      await warnIfUnknown(call, scheduler, { task, known: tasks.map(({ name }) => name) })
      nextStep(
        call,
        `The schedule fires while \`belfry start\` is running. Show its runs: belfry run list --schedule ${id}`,
      )
    },
    { mayCreate: true },
  )
}

export async function setSchedules(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler }) => {
    const planned: PlannedChange[] = []
    for (const id of call.args) {
      const stored = await scheduleOf(scheduler, id)
      const task = call.flags.text("task")
      const changes = {
        ...(await optionsFrom(call, stored)),
        ...unsetFrom(call, stored),
        ...(task === undefined ? {} : { task }),
      } as ScheduleChanges
      if (Object.keys(changes).length === 0)
        throw new CliError(
          EXIT.usage,
          "No option to change was given.",
          "See the flags: belfry schedule set --help",
        )
      const based = { ifRevision: call.flags.whole("ifRevision") ?? stored.revision, by: call.io.user }
      const changed = await scheduler.schedules.update(id, changes, { ...based, dryRun: true })
      planned.push({ stored, changes, based, values: changesBetween(stored, changed) })
    }
    const isDry = call.flags.isOn("dryRun")
    const shown: ScheduleView[] = []
    for (const change of planned) {
      shown.push(await changeStored(scheduler, change))
      reportChange(call, change, isDry)
    }
    if (!isDry) await show(call, scheduler, shown)
  })
}

interface PlannedChange {
  readonly stored: ScheduleView
  readonly changes: ScheduleChanges
  readonly based: UpdateOptions
  readonly values: readonly ChangedValue[]
}

async function changeStored(
  { schedules }: Client,
  { stored, changes, based, values }: PlannedChange,
): Promise<ScheduleView> {
  return values.length > 0 ? schedules.update(stored.id, changes, based) : stored
}

/** Called after the change was made. */
function reportChange(call: Call, { stored: { id, owner }, values }: PlannedChange, isDry: boolean): void {
  const verb = isDry ? "would change" : "changed"
  const words = values.length === 0 ? "no differences" : `${verb} ${values.map(changeWords).join(", ")}`
  hint(call, `${id}: ${words}.`)
  if (owner !== null && values.length > 0) hint(call, overrideWords(id, owner))
}

/** The options to remove. A removed option gets its default. */
function unsetFrom({ flags }: Call, { triggers }: ScheduleView): Record<string, null> {
  // The name of an unknown option in the row is used unchanged.
  const unread = unreadOptionsIn(triggers)?.options.unread ?? []
  const nameOf = (option: string) => (unread.includes(option) ? option : camelCase(option))
  return Object.fromEntries(flags.list("unset").map((option) => [nameOf(option), null]))
}

function camelCase(option: string): string {
  const name = option.replace(/^--/, "").replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())
  return name === "tz" ? "timezone" : name === "tag" ? "tags" : name
}

async function show(call: Call, client: Client, schedules: readonly ScheduleView[]): Promise<undefined> {
  await showAll(call, schedules, scheduleRows(call))
  for (const schedule of schedules) {
    const lints = unanswered(await client.schedules.lints(schedule.id), dstFrom(call.flags))
    printLints(call, lints, schedules.length > 1 ? schedule.id : null)
    if (call.io.isOutTerminal)
      hint(call, `${schedule.id} next: ${nextWords(schedule, call.io.zone, call.io.clock.now())}`)
  }
  return undefined
}
