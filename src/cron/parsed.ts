import type { Cron } from "../core/cron/cron.ts"
import { checkedValue, notAllowed, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { required } from "../core/options/option-types.ts"
import type { Zone } from "../core/time/zone.ts"

/** Checks that `cron` was parsed: passing the expression's text is a likely mistake. */
export function parsed(cron: unknown, subject: string): Cron {
  const source: OptionSource = { code: "BELFRY_CRON_SYNTAX", subject }
  return checkedValue(cron, required(PARSED), { source, option: "cron" })
}

const PARSED: OptionType<Cron> = {
  allowed: "the result of `parse`",
  read(value, at) {
    const { kind, everyMs, zone } = Object(value) as {
      kind?: unknown
      everyMs?: unknown
      zone?: Partial<Zone>
    }
    const isInterval = kind === "interval" && typeof everyMs === "number" && everyMs >= 1
    const isCalendar = kind === "calendar" && typeof zone?.spanAt === "function"
    if (isInterval || isCalendar) return value as Cron
    throw notAllowed(value, PARSED.allowed, at)
  },
}
