import fc from "fast-check"
import { DEFAULT_RETRY } from "../../../src/core/run/backoff.ts"
import {
  cancel,
  type Failure,
  fail,
  giveUp,
  type NewRun,
  type Output,
  type Progress,
  type Run,
  type RunChange,
  release,
  retry,
  succeed,
  takeAway,
} from "../../../src/core/run/run.ts"
import { SUMMARY_TEXT_MAX } from "../../../src/core/run/run-summary.ts"
import { concurrencyKeyOf } from "../../../src/core/schedule/schedule.ts"
import type { Json } from "../../../src/core/values/json.ts"
import { AN_INSTANT, aRun, LONG_MS } from "../../../src/store/laws/factories.ts"

/**
 * Random runs and steps. Every instant and every end of a lease is in the past, now, or long after the test. So it does not
 * matter how much time passes between two steps.
 */

const YEAR_2100 = 4_102_444_800_000

const anyText = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.constantFrom("", "null", "😀".repeat(SUMMARY_TEXT_MAX + 1)),
)
const textOrNull = fc.option(anyText)
/** As JSON returns it: without -0. */
const anyJson = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.parse(JSON.stringify(value)) as Json)
const jsonOrNull = fc.oneof({ weight: 1, arbitrary: fc.constant(null) }, { weight: 2, arbitrary: anyJson })
const anyInstant = fc.constantFrom(0, -1, AN_INSTANT, YEAR_2100)
const PLAIN = { noNullPrototype: true }
const anyMissed = fc.record({ from: anyInstant, until: anyInstant, count: fc.nat() }, PLAIN)
const anyProgress = fc.record({ fraction: fc.constantFrom(0, 0.5, 1), message: textOrNull }, PLAIN)

const SCHEDULES = ["s0", "s1"]
const keysOf = (scheduleId: string) => ({
  ...{ scheduleId, liveKey: concurrencyKeyOf(scheduleId), concurrencyKey: concurrencyKeyOf(scheduleId) },
})

const anyKeys = fc.oneof(
  fc
    .constantFrom(null, null, "s0")
    .map((scheduleId) => ({ scheduleId, liveKey: null, concurrencyKey: null })),
  fc.constantFrom(...SCHEDULES).map(keysOf),
  fc.record({
    scheduleId: fc.constantFrom(null, null, ...SCHEDULES),
    liveKey: fc.constantFrom(null, null, null, "key", concurrencyKeyOf("s0")),
    concurrencyKey: fc.constantFrom(null, "key", "key", "key", concurrencyKeyOf("s0")),
    concurrencyLimit: fc.constantFrom(null, 1, 1, 2),
  }),
)

const DUE = { delayMs: 0, notBefore: null }
const anyTime = fc.constantFrom(
  ...[DUE, DUE, DUE, { delayMs: null, notBefore: null }, { delayMs: null, notBefore: 0 }],
  ...[
    { delayMs: 0, notBefore: AN_INSTANT },
    { delayMs: LONG_MS, notBefore: null },
  ],
  { delayMs: 0, notBefore: YEAR_2100 },
)

const anyFields = fc.record(
  {
    payload: jsonOrNull,
    priority: fc.constantFrom(5, -5),
    scheduledFor: anyInstant,
    triggeredBy: fc.constantFrom("schedule", "catchup", "manual", "backfill"),
    trigger: anyText,
    missed: anyMissed,
    concurrencyLimit: fc.constantFrom(1, 2),
    retry: fc.constant(DEFAULT_RETRY),
    timeoutMs: fc.nat(),
  },
  { requiredKeys: [] },
)

/** Claims read these only if the run has an `attempt`, so each must also be tried alone. */
const anyRareFields = fc.oneof(
  fc.constant({}),
  fc.constantFrom({ parentId: "parent" }, { message: "✓" }, { reason: "because" }, { by: "ann" }),
  fc.record(
    {
      parentId: fc.constant("parent"),
      message: anyText,
      reason: anyText,
      by: anyText,
      state: fc.constantFrom("pending", "pending", "skipped"),
    },
    { requiredKeys: [] },
  ),
)

const anyRun = fc
  .tuple(anyFields, anyTime, anyKeys, anyRareFields)
  .map(([fields, time, keys, rareFields]) => aRun({ ...fields, ...time, ...keys, ...rareFields }))

/** In some cases all runs have the same key, so some of them have to wait or are not stored. */
const LIMITED = { concurrencyKey: "key", concurrencyLimit: 1, state: "pending" } as const
const anySharedKey = fc.constantFrom({}, {}, { liveKey: "key" }, LIMITED)

const RUNS_MAX = 3

/** The runs of one case. */
export const anyRuns: fc.Arbitrary<readonly NewRun[]> = fc
  .tuple(fc.array(anyRun, { minLength: 1, maxLength: RUNS_MAX, size: "max" }), anySharedKey)
  .map(([runs, sharedKey]) => runs.map((run) => ({ ...run, ...sharedKey })))

/**
 * One step of a case. It changes each chosen run in a way that fits the state of the run: a finished run is retried, and a run
 * that could not be stored is sent again.
 */
export interface Step {
  /** The chosen runs, as indexes. */
  readonly places: readonly number[]
  readonly ifPending: "claim" | "cancel"
  readonly ifRunning: "claim" | "heartbeat" | ChangeKind
  readonly workerId: string
  /** 0: the lease has ended when the next step begins. */
  readonly leaseMs: number
  readonly progress: Progress | null
  readonly output: Output
  readonly failure: Omit<Failure, "output">
  readonly reason: string | null
  readonly by: string | null
}

type ChangeKind = "succeed" | "fail" | "release" | "takeAway" | "giveUp" | "cancel" | "retry"

type Change = (run: Run, step: Step) => RunChange | null

/** Null: the change is not made to a run in this state. */
export const CHANGES: Readonly<Record<ChangeKind, Change>> = {
  succeed: (run, { output }) => succeed(run, output),
  fail: (run, { output, failure }) => fail(run, { ...failure, output }, DEFAULT_RETRY, 0),
  release: (run) => release(run, "stopping"),
  takeAway: (run, { reason, by }) => takeAway(run, reason ?? "", by),
  giveUp: (run) => giveUp(run, "Lost"),
  cancel: (run, why) => cancel(run, why),
  retry: (run, { by, reason }) => retry(run, by, reason),
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  places: fc.uniqueArray(fc.nat({ max: RUNS_MAX - 1 }), { minLength: 1 }),
  ifPending: fc.constantFrom("claim", "claim", "claim", "cancel"),
  ifRunning: fc.constantFrom<Step["ifRunning"]>(
    ...(["claim", "claim", "heartbeat", "heartbeat", "fail", "fail"] as const),
    ...(["succeed", "release", "takeAway", "giveUp", "cancel"] as const),
  ),
  workerId: fc.constantFrom("w0", "w1"),
  leaseMs: fc.constantFrom(0, LONG_MS),
  progress: fc.option(anyProgress),
  output: fc.record({ message: textOrNull, details: jsonOrNull }),
  failure: fc.record({
    outcome: fc.constantFrom("failed", "timeout"),
    error: anyText,
    retry: fc.constantFrom<Failure["retry"]>("never", "policy", { afterMs: 0 }, { afterMs: LONG_MS }),
  }),
  reason: textOrNull,
  by: textOrNull,
})

export const anySteps: fc.Arbitrary<readonly Step[]> = fc.array(anyStep, { maxLength: 14, size: "max" })
