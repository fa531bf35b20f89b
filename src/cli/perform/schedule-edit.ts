import { BelfryError } from "../../core/errors.ts"
import { defineSchedule } from "../../core/options/definition.ts"
import { type ChangedValue, changedValues } from "../../scheduler/schedules/changed-values.ts"
import { examinePayload } from "../../scheduler/schedules/payload-check.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import type { AnyTask } from "../../task/task.ts"
import { lintsOf, printLints } from "../checks/lints.ts"
import { CliError, problemOf } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { ScheduleEntry } from "../files/config.ts"
import { entriesIn } from "../files/schedule-files.ts"
import { definitionOf, unstoredView } from "../files/view-definition.ts"
import type { Call } from "../parsing/command.ts"
import { changeWords } from "../printing/changed-values.ts"
import { hint, showAll } from "../printing/output.ts"
import { overrideWords, scheduleRows } from "../printing/schedule-rows.ts"
import { yamlText } from "../printing/yaml-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { byName, withScheduler } from "../session/session.ts"
import { confirm } from "../terminal/confirm.ts"
import { entryOf } from "./export.ts"
import { becauseOf } from "./schedule-steer.ts"

/** Opens the schedule as YAML in an editor. Checks and shows the changes, and asks for confirmation before storing them. */
export async function editSchedule(call: Call): Promise<undefined> {
  const { io } = call
  if (!io.canAsk)
    throw new CliError(
      EXIT.usage,
      "There is no terminal for an editor.",
      `Change it with: belfry schedule set ${call.args[0]!}, or belfry apply -f FILE`,
    )
  await withScheduler(call, async ({ scheduler, tasks }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const original = `${HEAD}${await yamlText(entryOf(schedule))}`
    const entry = await edited(call, { schedule, original, tasks })
    const values = entry === null ? [] : changesBy(entry, schedule)
    if (entry === null || values.length === 0) return hint(call, "Nothing was changed.")
    const changes = values.map(changeWords).join(", ")
    const needsConfirmation = !call.flags.isOn("yes")
    if (needsConfirmation) hint(call, `${schedule.id}: would change ${changes}.`)
    const { id, task, payload, ...options } = entry
    const now = io.clock.now()
    printLints(call, lintsOf(unstoredView(id, options, { task, payload, now }), now, options.dst))
    await confirm(call, `Change ${schedule.id}?`, 1)
    await scheduler.schedules.put(
      id,
      { ...options, task, payload },
      {
        ...becauseOf(call),
        ifRevision: schedule.revision,
      },
    )
    if (!needsConfirmation) hint(call, `${schedule.id}: changed ${changes}.`)
    if (schedule.owner !== null) hint(call, overrideWords(schedule.id, schedule.owner))
    await showAll(call, [await scheduleOf(scheduler, schedule.id)], scheduleRows(call))
  })
  return undefined
}

const HEAD = "# Change the schedule, save, and quit the editor. An empty file changes nothing.\n"

/** Opens the editor again after a mistake if the user agrees. Null: nothing was changed. */
async function edited(
  call: Call,
  { schedule, original, tasks }: { schedule: ScheduleView; original: string; tasks: readonly AnyTask[] },
): Promise<ScheduleEntry | null> {
  for (let text = original; ; ) {
    text = await call.io.edit(text, `${schedule.id}.yaml`)
    if (text === original || text.trim() === "") return null
    try {
      const [entry, another] = await entriesIn("the editor", text)
      if (entry?.entry.id !== schedule.id || another !== undefined)
        throw new CliError(
          EXIT.invalid,
          `The text must contain the schedule "${schedule.id}" and nothing else.`,
          "Keep the id.",
        )
      const isChanged = changesBy(entry.entry, schedule).length > 0
      if (isChanged) await examinePayload(byName(tasks), entry.entry.task, entry.entry.payload)
      return entry.entry
    } catch (error) {
      if (!(error instanceof BelfryError || error instanceof CliError) || call.flags.isOn("yes")) throw error
      hint(call, problemOf(error).message)
      const answer = await call.io.ask("Edit it again? [Y/n] ")
      if (/^n/i.test(answer.trim())) throw error
    }
  }
}

function changesBy(entry: ScheduleEntry, schedule: ScheduleView): readonly ChangedValue[] {
  const { id, task, payload, ...options } = entry
  const { owner, release } = schedule
  const wanted = defineSchedule(options, { id, task, payload, owner, release, now: null })
  return changedValues(definitionOf(schedule), wanted)
}
