import assert from "node:assert/strict"
import { test } from "vitest"
import { DoNotRetry, defineTask, RetryAfter, type RunEvent } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"

/** Performs one run of the task and lets a day pass. Returns the start of each attempt in seconds. */
async function attemptsOf(
  options: Omit<Parameters<typeof defineTask>[0], "name" | "run" | "payload">,
  perform: (attempt: number) => unknown,
) {
  const fleet = new Fleet()
  const startedAt: number[] = []
  const task = defineTask({
    ...options,
    name: "task",
    run: ({ run }) => {
      startedAt.push(fleet.clock.monotonic() / 1_000)
      return perform(run.attempt)
    },
  })
  const node = await fleet.started({ tasks: [task] })
  const { runId } = await node.enqueue(task)
  await fleet.advance("1d")
  const run = (await node.runs.get(runId))!
  await fleet[Symbol.asyncDispose]()
  return { startedAt, run }
}

const failing = () => {
  throw new Error("no luck")
}

test("a failed run is tried again after an exponential back-off until it has no attempts left", async () => {
  const retry = { attempts: 5, delay: "10s", jitter: 0 } as const

  const { startedAt, run } = await attemptsOf({ retry }, failing)

  assert.deepEqual(startedAt, [0, 10, 30, 70, 150])
  assert.deepEqual([run.state, run.attempt, run.failures], ["failed", 5, 5])
  assert.deepEqual(
    run.attempts.map(({ outcome }) => outcome),
    ["failed", "failed", "failed", "failed", "failed"],
  )
  assert.match(run.error!, /no luck/)
})

test("a linear back-off grows by the delay, and a fixed back-off doesn't grow", async () => {
  const linear = await attemptsOf(
    { retry: { attempts: 4, backoff: "linear", delay: "10s", jitter: 0 } },
    failing,
  )
  const fixed = await attemptsOf(
    { retry: { attempts: 4, backoff: "fixed", delay: "10s", jitter: 0 } },
    failing,
  )

  assert.deepEqual(linear.startedAt, [0, 10, 30, 60])
  assert.deepEqual(fixed.startedAt, [0, 10, 20, 30])
})

test("no back-off is longer than maxDelay", async () => {
  const retry = { attempts: 6, delay: "10s", maxDelay: "25s", jitter: 0 } as const

  const { startedAt } = await attemptsOf({ retry }, failing)

  assert.deepEqual(startedAt, [0, 10, 30, 55, 80, 105])
})

test("by default a run has three attempts, and each delay has a jitter of 0.25", async () => {
  const { startedAt } = await attemptsOf({}, failing)

  assert.equal(startedAt.length, 3)
  const [first, second, third] = startedAt as [number, number, number]
  assert.ok(second - first >= 3.75 && second - first <= 5, `${second - first}`)
  assert.ok(third - second >= 7.5 && third - second <= 10, `${third - second}`)
})

test("a run that succeeds in a later attempt keeps its earlier attempts", async () => {
  const { run } = await attemptsOf({}, (attempt) => (attempt < 3 ? failing() : { sent: 812 }))

  assert.equal(run.state, "succeeded")
  assert.equal(run.error, null)
  assert.deepEqual(run.details, { sent: 812 })
  assert.deepEqual(
    run.attempts.map(({ attempt, outcome }) => [attempt, outcome]),
    [
      [1, "failed"],
      [2, "failed"],
      [3, "succeeded"],
    ],
  )
})

test("DoNotRetry ends the run as failed at once", async () => {
  const { startedAt, run } = await attemptsOf({}, () => {
    throw new DoNotRetry("card expired")
  })

  assert.equal(startedAt.length, 1)
  assert.equal(run.state, "failed")
  assert.match(run.error!, /DoNotRetry: card expired/)
})

test("RetryAfter replaces the delay of the policy, but not its number of attempts", async () => {
  const { startedAt, run } = await attemptsOf({ retry: { attempts: 3 } }, () => {
    throw new RetryAfter("15m", { cause: new Error("429 Too Many Requests") })
  })

  assert.deepEqual(startedAt, [0, 900, 1_800])
  assert.equal(run.state, "failed")
  assert.match(run.error!, /Caused by: Error: 429/)
})

test("RetryAfter with an invalid duration throws", () => {
  assert.throws(() => new RetryAfter("soon" as "1s"), { code: "BELFRY_DURATION_INVALID" })
})

test("the result success: false counts as a failed attempt", async () => {
  const { startedAt, run } = await attemptsOf({ retry: { attempts: 2 } }, () => ({
    success: false,
    message: "3 of 5 mails bounced",
    details: { bounced: 3 },
  }))

  assert.equal(startedAt.length, 2)
  assert.deepEqual([run.state, run.success, run.message], ["failed", false, "3 of 5 mails bounced"])
  assert.deepEqual(run.details, { bounced: 3 })
  assert.equal(run.error, "3 of 5 mails bounced")
})

test("the retry policy of a run or its schedule takes precedence over that of its task", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", retry: { attempts: 5 }, run: failing })
  const node = await fleet.started({ tasks: [task] })

  await node.enqueue(task, { id: "once", retry: { attempts: 1 } })
  await node.schedules.create("s", { task, in: "1s", retry: { attempts: 2, delay: 0 } })
  await fleet.advance("1h")

  assert.equal((await node.runs.get("once"))?.attempt, 1)
  assert.equal((await node.runs.get("s@2026-01-01T00:00:01Z"))?.attempt, 2)
})

test("each failure before the last is reported as retrying, and the last as failed", async () => {
  await using fleet = new Fleet()
  const events: string[] = []
  const task = defineTask({ name: "task", run: failing })
  const run = (event: RunEvent) => void events.push(event.type)
  const node = await fleet.started({ tasks: [task], hooks: { run } })

  await node.enqueue(task)
  await fleet.advance("1h")

  assert.deepEqual(events, ["started", "retrying", "started", "retrying", "started", "failed"])
})
