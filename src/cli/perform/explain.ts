import { describeCron } from "../../core/cron/describe.ts"
import { nextOccurrence } from "../../core/cron/search.ts"
import type { Call } from "../command.ts"
import { cronFrom, dstFrom } from "../cron-flags.ts"
import { lintLine, lintsOfCron } from "../lints.ts"
import { paintOf, showRecord } from "../output.ts"
import { bothWords } from "../time-words.ts"

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
  // Here they are what was asked for.
  for (const lint of lints) io.out(`${lintLine(lint, paintOf(call), null)}\n`)
  return undefined
}
