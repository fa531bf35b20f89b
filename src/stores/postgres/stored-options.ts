import { DURATION_MAX } from "../../core/duration.ts"
import { BelfryError } from "../../core/errors.ts"
import { EARLIEST, LATEST } from "../../core/instant.ts"

/**
 * Options in the form Belfry stores them. Somebody may have written them by hand in that form, too: then nothing but this is
 * between them and a plan.
 */
export function assertStored(options: object): void {
  for (const [option, { isFit, allowed }] of Object.entries(STORED)) {
    const value = (options as Record<string, unknown>)[option]
    if (isFit(value)) continue
    const shown = JSON.stringify(value)?.slice(0, 80) ?? "missing"
    const text = `options: ${option} is ${shown}; it is stored as ${allowed}. Write options in the words of schedules.create.`
    throw new BelfryError("BELFRY_SCHEDULE_INVALID", text)
  }
}

interface Form {
  readonly allowed: string
  isFit(value: unknown): boolean
}

/** What fits into the columns of a run. */
const INTEGER_MAX = 2_147_483_647

const flag: Form = { allowed: "true or false", isFit: (value) => typeof value === "boolean" }
const duration = integer(0, DURATION_MAX)

const STORED: Readonly<Record<string, Form>> = {
  jitterMs: duration,
  spacingMs: duration,
  startsAt: orNull(integer(EARLIEST, LATEST)),
  endsAt: orNull(integer(EARLIEST, LATEST)),
  maxRuns: orNull(integer(1, INTEGER_MAX)),
  removeWhenFinished: flag,
  maxConcurrentRuns: orNull(integer(1, INTEGER_MAX)),
  timeoutMs: orNull(duration),
  release: integer(0, Number.MAX_SAFE_INTEGER),
  dst: record({ gap: choice("after", "skip"), overlap: choice("first", "second", "both") }),
  overlap: record({ policy: choice("skip", "queue", "replace", "allow"), limit: integer(1, 1_000) }),
  catchUp: record({
    policy: choice("once", "none", "all"),
    graceMs: duration,
    windowMs: duration,
    limit: integer(1, 1_000),
  }),
  dependsOn: listOf(record({ scheduleId: { allowed: "text", isFit: isText }, withinMs: duration })),
  retry: orNull(
    record({
      attempts: integer(1, 1_000),
      backoff: choice("exponential", "linear", "fixed"),
      baseMs: duration,
      maxMs: duration,
      jitter: { allowed: "a share", isFit: (value) => typeof value === "number" && value >= 0 && value <= 1 },
    }),
  ),
}

function integer(min: number, max: number): Form {
  return {
    allowed: `a whole number from ${min} to ${max}`,
    isFit: (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max,
  }
}

function choice(...words: readonly string[]): Form {
  return {
    allowed: words.map((word) => `"${word}"`).join(" or "),
    isFit: (value) => words.includes(value as string),
  }
}

function orNull({ allowed, isFit }: Form): Form {
  return { allowed: `${allowed}, or null`, isFit: (value) => value === null || isFit(value) }
}

function record(fields: Readonly<Record<string, Form>>): Form {
  return {
    allowed: `an object of ${Object.keys(fields).join(", ")}`,
    isFit: (value) =>
      typeof value === "object" &&
      value !== null &&
      Object.entries(fields).every(([name, { isFit }]) => isFit((value as Record<string, unknown>)[name])),
  }
}

function listOf({ allowed, isFit }: Form): Form {
  return { allowed: `a list, each ${allowed}`, isFit: (value) => Array.isArray(value) && value.every(isFit) }
}

function isText(value: unknown): boolean {
  return typeof value === "string"
}
