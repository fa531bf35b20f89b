import type { Cron } from "../cron/cron.ts"
import { type Lint, type LintFacts, lintCron } from "../cron/lint.ts"
import { shortestGap } from "../cron/lint-facts.ts"
import { parseCron } from "../cron/parse.ts"
import type { Instant } from "../time/instant.ts"
import type { Schedule } from "./schedule.ts"

/** The fields of a schedule that lints read. */
export type LintedSchedule = Pick<Schedule, "id" | "timezone" | "dst"> & {
  readonly triggers: readonly {
    readonly kind: string
    readonly cron?: string
    readonly dayMatch?: "either" | "both"
  }[]
}

/** The lints of all cron expressions of a schedule. `facts`: what a running scheduler knows about it. */
export function lintsOfSchedule(
  schedule: LintedSchedule,
  now: Instant,
  facts: LintFacts = {},
): readonly Lint[] {
  const lints = cronsOf(schedule).flatMap((cron) => lintCron(cron, now, facts))
  return unanswered(lints, answersIn(schedule.dst))
}

/** The shortest time between two of the next occurrences of one of its cron expressions. Null: there is none. */
export function shortestGapOf(schedule: LintedSchedule, now: Instant): number | null {
  const gaps = cronsOf(schedule)
    .map((cron) => shortestGap(cron, now))
    .filter((gapMs) => gapMs !== null)
  return gaps.length === 0 ? null : Math.min(...gaps)
}

function cronsOf({ triggers, timezone, dst, id }: LintedSchedule): readonly Cron[] {
  return triggers.flatMap(({ kind, cron, dayMatch = "either" }) =>
    kind === "cron" && cron !== undefined ? [parseCron(cron, { timezone, dst, dayMatch, seed: id })] : [],
  )
}

/** The DST options that the author chose. Choosing one turns off the lint about it. */
export interface DstAnswers {
  readonly gap?: unknown
  readonly overlap?: unknown
}

export function unanswered(lints: readonly Lint[], { gap, overlap }: DstAnswers): readonly Lint[] {
  return lints.filter(
    ({ code }) => !(code === "L04" && gap !== undefined) && !(code === "L05" && overlap !== undefined),
  )
}

/** In a stored schedule a default can't be told from the same value chosen. Any other value was chosen. */
function answersIn({ gap, overlap }: Schedule["dst"]): DstAnswers {
  return { ...(gap === "after" ? {} : { gap }), ...(overlap === "first" ? {} : { overlap }) }
}
