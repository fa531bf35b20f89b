import { defineSchedule } from "../../core/options/definition.ts"
import type { ScheduleOptions } from "../../core/options/options.ts"
import { unanswered } from "../../core/schedule/schedule-lints.ts"
import { unreadOptionsIn } from "../../core/schedule/unread-options.ts"
import type { Client } from "../../scheduler/client.ts"
import { type ChangedValue, changedValues } from "../../scheduler/schedules/changed-values.ts"
import { checkPayload, examinePayload } from "../../scheduler/schedules/payload-check.ts"
import {
  changedOptions,
  checkChanges,
  type ScheduleChanges,
} from "../../scheduler/schedules/schedule-options.ts"
import type { CreateOptions } from "../../scheduler/schedules/steering-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { printLints } from "../checks/lints.ts"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import { definitionOf, unstoredView } from "../files/view-definition.ts"
import type { Call } from "../parsing/command.ts"
import { dstFrom } from "../parsing/cron-flags.ts"
import { optionsFrom } from "../parsing/definition-flags.ts"
import { changeWords } from "../printing/changed-values.ts"
import { hint, nextStep, showAll } from "../printing/output.ts"
import { nextWords, overrideWords, scheduleRows } from "../printing/schedule-rows.ts"
import { scheduleOf } from "../session/lookups.ts"
import { byName, configOf, tasksOf, withScheduler } from "../session/session.ts"
import { warnIfUnknown } from "../session/unoffered-tasks.ts"

export async function createSchedule(call: Call): Promise<undefined> {
  const { flags, io } = call
  const id = call.args[0]!
  const task = flags.required("task", "Give the task to run: --task http, or a task of your configuration.")
  const { payload, ...options } = (await optionsFrom(call, null)) as ScheduleOptions & { payload?: unknown }
  // Throws on mistakes before a store is created.
  unstoredView(id, options, { task, payload, now: io.clock.now() })
  const tasks = await tasksOf((await configOf(call))?.config ?? {}, call)
  await checkPayload(byName(tasks), task, payload)
  await withScheduler(
    call,
    async ({ scheduler, isNew, shownAddress, loaded }) => {
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
      const known = (await tasksOf(loaded?.config ?? {}, call)).map(({ name }) => name)
      await warnIfUnknown(call, scheduler, { task, known })
      nextStep(
        call,
        `The schedule fires while \`belfry start\` is running. Show its runs: belfry run list --schedule ${id}`,
      )
    },
    { mayCreate: true },
  )
}

export async function setSchedules(call: Call): Promise<undefined> {
  await withScheduler(call, async ({ scheduler, tasks }) => {
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
      planned.push({ stored, changes, values: changedBy(stored, changes, call) })
      if (changes.payload !== undefined)
        await examinePayload(byName(tasks), task ?? stored.task, changes.payload)
    }
    const isDry = call.flags.isOn("dryRun")
    const shown: ScheduleView[] = []
    for (const change of planned) {
      shown.push(await changeStored(call, scheduler, change))
      reportChange(call, change, isDry)
    }
    if (!isDry) await show(call, scheduler, shown)
  })
}

interface PlannedChange {
  readonly stored: ScheduleView
  readonly changes: ScheduleChanges
  readonly values: readonly ChangedValue[]
}

async function changeStored(
  call: Call,
  scheduler: Client,
  { stored, changes, values }: PlannedChange,
): Promise<ScheduleView> {
  const ifRevision = call.flags.whole("ifRevision") ?? stored.revision
  if (values.length > 0)
    return scheduler.schedules.update(stored.id, changes, { ifRevision, by: call.io.user })
  return stored
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

/** The options that would change. Throws on mistakes, before anything is changed. */
function changedBy(stored: ScheduleView, changes: ScheduleChanges, { io }: Call): readonly ChangedValue[] {
  const definition = definitionOf(stored)
  const { id, owner, release } = stored
  checkChanges(changes, definition, id)
  const task = (changes.task as string | undefined) ?? stored.task
  const payload = changes.payload === undefined ? stored.payload : changes.payload
  const about = { id, task, payload, owner, release, now: io.clock.now() }
  return changedValues(definition, defineSchedule(changedOptions(definition, changes), about))
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
