/** Cron expressions by themselves: `belfry/cron`. Nothing here starts a timer or reads a clock. */

export type { CalendarCron, Cron, DstPolicy, IntervalCron } from "./core/cron/cron.ts"
export type { Fix, Lint, LintCode } from "./core/cron/lint.ts"
export { BelfryError } from "./core/errors.ts"
export { describe } from "./cron/describe.ts"
export { type LintFacts, lint } from "./cron/lint.ts"
export { next, occurrences, previous, type Range } from "./cron/occurrences.ts"
export { type CronOptions, parse } from "./cron/parse.ts"
