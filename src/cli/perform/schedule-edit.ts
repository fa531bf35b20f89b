import type { Client } from "../../scheduler/client.ts"
import { changesBetween } from "../../scheduler/schedules/view-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { lintsOf, printLints } from "../checks/lints.ts"
import { CliError, problemOf } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import type { ScheduleEntry } from "../files/config.ts"
import { entriesIn } from "../files/schedule-files.ts"
import type { Call } from "../parsing/command.ts"
import { changeWords } from "../printing/changed-values.ts"
import { hint, showAll } from "../printing/output.ts"
import { overrideWords, scheduleRows } from "../printing/schedule-rows.ts"
import { yamlText } from "../printing/yaml-text.ts"
import { scheduleOf } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"
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
  await withScheduler(call, async ({ scheduler }) => {
    const schedule = await scheduleOf(scheduler, call.args[0]!)
    const original = `${HEAD}${await yamlText(entryOf(schedule))}`
    const edit = await edited(call, scheduler, { schedule, original })
    const values = edit === null ? [] : changesBetween(schedule, edit.changed)
    if (edit === null || values.length === 0) return hint(call, "Nothing was changed.")
    const changes = values.map(changeWords).join(", ")
    const needsConfirmation = !call.flags.isOn("yes")
    if (needsConfirmation) hint(call, `${schedule.id}: would change ${changes}.`)
    printLints(call, lintsOf(edit.changed, io.clock.now(), edit.entry.dst))
    await confirm(call, `Change ${schedule.id}?`, 1)
    await put(call, scheduler, { schedule, entry: edit.entry, dryRun: false })
    if (!needsConfirmation) hint(call, `${schedule.id}: changed ${changes}.`)
    if (schedule.owner !== null) hint(call, overrideWords(schedule.id, schedule.owner))
    await showAll(call, [await scheduleOf(scheduler, schedule.id)], scheduleRows(call))
  })
  return undefined
}

const HEAD = "# Change the schedule, save, and quit the editor. An empty file changes nothing.\n"

/** The edited text, and the schedule as it would be. */
interface Edit {
  readonly entry: ScheduleEntry
  readonly changed: ScheduleView
}

/** Opens the editor again after a mistake if the user agrees. Null: nothing was changed. */
async function edited(
  call: Call,
  client: Client,
  { schedule, original }: { schedule: ScheduleView; original: string },
): Promise<Edit | null> {
  for (let text = original; ; ) {
    text = await call.io.edit(text, `${schedule.id}.yaml`)
    if (text === original || text.trim() === "") return null
    try {
      const [file, another] = await entriesIn("the editor", text)
      if (file?.entry.id !== schedule.id || another !== undefined)
        throw new CliError(
          EXIT.invalid,
          `The text must contain the schedule "${schedule.id}" and nothing else.`,
          "Keep the id.",
        )
      const { entry } = file
      return { entry, changed: await put(call, client, { schedule, entry, dryRun: true }) }
    } catch (error) {
      const { exit, message } = problemOf(error)
      if (exit !== EXIT.invalid || call.flags.isOn("yes")) throw error
      hint(call, message)
      const answer = await call.io.ask("Edit it again? [Y/n] ")
      if (/^n/i.test(answer.trim())) throw error
    }
  }
}

function put(
  call: Call,
  { schedules }: Client,
  { schedule, entry, dryRun }: { schedule: ScheduleView; entry: ScheduleEntry; dryRun: boolean },
): Promise<ScheduleView> {
  const { id, ...options } = entry
  return schedules.put(id, options, { ...becauseOf(call), ifRevision: schedule.revision, dryRun })
}
