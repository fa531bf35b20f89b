import type { CronOptions as CoreOptions, Cron } from "../core/cron/cron.ts"
import { parseCron } from "../core/cron/parse.ts"
import { atOption, checked, type OptionSource, type OptionType } from "../core/options/checked.ts"
import { choice, instant, text } from "../core/options/option-types.ts"
import { DST } from "../core/options/policies.ts"
import { zoneNamed } from "../core/time/zone.ts"
import { withoutUndefined } from "./without-undefined.ts"

/** The options of `parse`. */
export interface CronOptions extends Omit<CoreOptions, "anchor"> {
  /** The instant that `@every` counts from. Without it, each call counts from the instant it is given. */
  readonly anchor?: Date | string | number
}

/** Parses an expression. Throws a `BelfryError` that names the field, the value, the range and the position. */
export function parse(expression: string, options: CronOptions = {}): Cron {
  const source: OptionSource = { code: "BELFRY_CRON_SYNTAX", subject: "parse" }
  const given = withoutUndefined<CoreOptions>(checked(options, CRON_OPTIONS, source))
  atOption({ source, option: "timezone" }, () => zoneNamed(given.timezone ?? "UTC"))
  return parseCron(expression, given)
}

const CRON_OPTIONS = {
  timezone: text({ min: 1, max: 100 }),
  dst: DST,
  dayMatch: choice("either", "both"),
  seed: text({ min: 0, max: 1_000 }),
  anchor: instant,
} satisfies Record<keyof CronOptions, OptionType<unknown>>
