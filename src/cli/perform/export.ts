import { optionsOfView } from "../../scheduler/schedules/view-options.ts"
import type { ScheduleView } from "../../scheduler/views.ts"
import { splitBroken } from "../checks/schedule-problem.ts"
import { EXIT, type ExitCode } from "../exit-codes.ts"
import type { Config } from "../files/config.ts"
import type { Call } from "../parsing/command.ts"
import { codeText } from "../printing/code-text.ts"
import { hint, warn } from "../printing/output.ts"
import { printable, printableJson } from "../printing/printable.ts"
import { allSchedules } from "../session/lookups.ts"
import { withScheduler } from "../session/session.ts"

const EXPORT_FORMATS = ["yaml", "json", "ts", "crontab"] as const

/**
 * Schedules declared in code are left out without --all: their program creates them in any store it is started on. A broken
 * schedule is left out with a warning, so that the other schedules can be exported.
 */
export async function exportSchedules(call: Call): Promise<ExitCode | undefined> {
  const { flags } = call
  const format = flags.choice("format", EXPORT_FORMATS) ?? "yaml"
  const [tag, task] = [flags.text("tag"), flags.text("task")]
  return withScheduler(call, async ({ scheduler, loaded }) => {
    const all = await allSchedules(scheduler, {
      ...(tag === undefined ? {} : { tag }),
      ...(task === undefined ? {} : { task }),
    })
    const found = flags.isOn("all") ? all : all.filter(({ owner }) => owner === null)
    const { plannable, broken } = splitBroken(found)
    call.io.out(await textOf(format === "crontab" ? found : plannable, format, loaded?.config ?? {}))
    for (const { id, problem } of broken)
      warn(call, printable(`${id} is left out because it can't be planned: ${problem}`))
    if (found.length < all.length) hint(call, leftOutWords(all.length - found.length))
    return broken.length === 0 ? undefined : EXIT.failed
  })
}

function leftOutWords(count: number): string {
  const subject =
    count === 1
      ? "1 schedule that is declared in code is"
      : `${count} schedules that are declared in code are`
  return `${subject} left out. To include declared schedules, add --all.`
}

async function textOf(
  found: readonly ScheduleView[],
  format: (typeof EXPORT_FORMATS)[number],
  config: Config,
): Promise<string> {
  if (format === "crontab") return (await import("../crontab/crontab-text.ts")).crontabText(found, config)
  const file = { schedules: found.map(entryOf) }
  if (format === "yaml") return (await import("../printing/yaml-text.ts")).yamlText(file)
  return format === "json" ? `${printableJson(JSON.stringify(file, null, 2))}\n` : codeText(file)
}

/** In the format of `belfry apply`, without options that have their default value. */
export function entryOf(schedule: ScheduleView): Record<string, unknown> {
  const { id, task, payload } = schedule
  return { id, task, ...optionsOfView(schedule), ...(payload === null ? {} : { payload }) }
}
