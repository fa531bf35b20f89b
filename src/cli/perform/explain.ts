import { describeCron } from "../../core/cron/describe.ts"
import { nextOccurrence } from "../../core/cron/search.ts"
import { lintLine, lintsOfCron } from "../checks/lints.ts"
import type { Call } from "../parsing/command.ts"
import { cronFrom, dstFrom } from "../parsing/cron-flags.ts"
import { paintOf, showRecord } from "../printing/output.ts"
import { bothWords } from "../printing/time-text.ts"

export async function explain(call: Call): Promise<undefined> {
  const { flags, io } = call
  const expression = call.args[0]!
  const now = io.clock.now()
  const timezone = flags.text("timezone") ?? "UTC"
  const cron = cronFrom(expression, flags, now)
  const words = describeCron(cron)
  const lints = lintsOfCron(cron, now, dstFrom(flags))
  const next = nextOccurrence(cron, now)
  if (flags.isOn("json")) {
    const nextAt = next === null ? null : new Date(next)
    await showRecord(call, { expression, words, timezone, next: nextAt, lints }, "json")
    return undefined
  }
  io.out(`${words} · ${timezone}\n`)
  if (next !== null) io.out(`Next: ${bothWords(next, { own: timezone, viewer: io.zone }, now)}\n`)
  // To standard output, because the lints are a part of the result here.
  for (const lint of lints) io.out(`${lintLine(lint, paintOf(call), null)}\n`)
  return undefined
}
