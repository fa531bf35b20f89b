import { type Lint, type LintFacts, lintCron } from "./cron/lint.ts"
import { parseCron } from "./cron/parse.ts"
import type { Instant } from "./instant.ts"
import type { Schedule } from "./schedule.ts"

/** As much of a schedule as its lints are about. */
export type LintedSchedule = Pick<Schedule, "id" | "timezone" | "dst"> & {
  readonly triggers: readonly {
    readonly kind: string
    readonly cron?: string
    readonly dayMatch?: "either" | "both"
  }[]
}

/** What may not be meant about a schedule: of each of its expressions. `facts`: what a running scheduler knows of it. */
export function lintsOfSchedule(
  schedule: LintedSchedule,
  now: Instant,
  facts: LintFacts = {},
): readonly Lint[] {
  const { timezone, dst, id } = schedule
  const lints = schedule.triggers.flatMap(({ kind, cron, dayMatch = "either" }) =>
    kind === "cron" && cron !== undefined
      ? lintCron(parseCron(cron, { timezone, dst, dayMatch, seed: id }), now, facts)
      : [],
  )
  return unanswered(lints, answersIn(dst))
}

/** What was said about clock changes. Saying it answers the lint about it. */
export interface DstAnswers {
  readonly gap?: unknown
  readonly overlap?: unknown
}

export function unanswered(lints: readonly Lint[], { gap, overlap }: DstAnswers): readonly Lint[] {
  return lints.filter(
    ({ code }) => !(code === "L04" && gap !== undefined) && !(code === "L05" && overlap !== undefined),
  )
}

/** A stored schedule doesn't tell a default from the same value chosen. Any other value was chosen. */
function answersIn({ gap, overlap }: Schedule["dst"]): DstAnswers {
  return { ...(gap === "after" ? {} : { gap }), ...(overlap === "first" ? {} : { overlap }) }
}
