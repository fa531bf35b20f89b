import type { ScheduleView } from "../../scheduler/views.ts"
import type { Call } from "../command.ts"
import { allSchedules } from "../lookups.ts"
import { printableJson } from "../printable.ts"
import { withScheduler } from "../session.ts"
import { definitionOf, leanOptions } from "../view-definition.ts"
import { yamlText } from "../yaml-text.ts"

export async function exportSchedules(call: Call): Promise<undefined> {
  const { flags, io } = call
  const format = flags.choice("format", ["yaml", "json"]) ?? "yaml"
  const [tag, task] = [flags.text("tag"), flags.text("task")]
  await withScheduler(call, async ({ scheduler }) => {
    const found = await allSchedules(scheduler, {
      ...(tag === undefined ? {} : { tag }),
      ...(task === undefined ? {} : { task }),
    })
    const file = { schedules: found.map(entryOf) }
    if (format === "json") return io.out(`${printableJson(JSON.stringify(file, null, 2))}\n`)
    io.out(await yamlText(file))
  })
  return undefined
}

/** As `belfry apply` reads it: only what differs from the defaults. */
export function entryOf(schedule: ScheduleView): Record<string, unknown> {
  const { id, task, payload } = schedule
  return { id, task, ...leanOptions(definitionOf(schedule)), ...(payload === null ? {} : { payload }) }
}
