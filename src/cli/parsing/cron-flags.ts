import type { Cron, CronOptions } from "../../core/cron/cron.ts"
import { parseCron } from "../../core/cron/parse.ts"
import type { Flags } from "./flags.ts"

/** Parses an expression with the rules given by flags. */
export function cronFrom(expression: string, flags: Flags, anchor?: number): Cron {
  const dayMatch = flags.choice("dayMatch", ["either", "both"])
  const options: CronOptions = {
    timezone: flags.text("timezone") ?? "UTC",
    dst: dstFrom(flags),
    ...(dayMatch === undefined ? {} : { dayMatch }),
    seed: flags.text("seed") ?? "",
    ...(anchor === undefined ? {} : { anchor }),
  }
  return parseCron(expression, options)
}

/** Only the daylight saving rules that are given by flags. */
export function dstFrom(flags: Flags): NonNullable<CronOptions["dst"]> {
  const gap = flags.choice("dstGap", ["after", "skip"])
  const overlap = flags.choice("dstOverlap", ["first", "second", "both"])
  return { ...(gap === undefined ? {} : { gap }), ...(overlap === undefined ? {} : { overlap }) }
}
