import assert from "node:assert/strict"
import { test } from "vitest"
import { DoNotRetry, defineTask, RetryAfter, type RunEvent } from "../../src/index.ts"
import { Fleet } from "../support/fleet.ts"

/** Starts the task and lets a day pass; the instants of its attempts in seconds. */
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

test("a failed attempt is tried again after an exponential back-off, until the attempts are used up", async () => {
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

test("linear and fixed back-off grow by the delay and not at all", async () => {
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

test("by default a run has three attempts, each delay with a quarter left to chance", async () => {
  const { startedAt } = await attemptsOf({}, failing)

  assert.equal(startedAt.length, 3)
  const [first, second, third] = startedAt as [number, number, number]
  assert.ok(second - first >= 3.75 && second - first <= 5, `${second - first}`)
  assert.ok(third - second >= 7.5 && third - second <= 10, `${third - second}`)
})

test("a later attempt that succeeds makes the run a success that keeps its story", async () => {
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

test("RetryAfter says when, whatever the policy says, but not how often", async () => {
  const { startedAt, run } = await attemptsOf({ retry: { attempts: 3 } }, () => {
    throw new RetryAfter("15m", { cause: new Error("429 Too Many Requests") })
  })

  assert.deepEqual(startedAt, [0, 900, 1_800])
  assert.equal(run.state, "failed")
  assert.match(run.error!, /Caused by: Error: 429/)
})

test("RetryAfter with something that is no duration is the programmer's mistake", () => {
  assert.throws(() => new RetryAfter("soon" as "1s"), { code: "BELFRY_DURATION_INVALID" })
})

test("a report of failure counts as a failed attempt", async () => {
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

test("a run's own retry and timeout come before those of its task", async () => {
  await using fleet = new Fleet()
  const task = defineTask({ name: "task", retry: { attempts: 5 }, run: failing })
  const node = await fleet.started({ tasks: [task] })

  await node.enqueue(task, { id: "once", retry: { attempts: 1 } })
  await node.schedules.create("s", { task, in: "1s", retry: { attempts: 2, delay: 0 } })
  await fleet.advance("1h")

  assert.equal((await node.runs.get("once"))?.attempt, 1)
  assert.equal((await node.runs.get("s@2026-01-01T00:00:01Z"))?.attempt, 2)
})

test("each failure but the last is told as retrying, the last as failed", async () => {
  await using fleet = new Fleet()
  const events: string[] = []
  const task = defineTask({ name: "task", run: failing })
  const run = (event: RunEvent) => void events.push(event.type)
  const node = await fleet.started({ tasks: [task], hooks: { run } })

  await node.enqueue(task)
  await fleet.advance("1h")

  assert.deepEqual(events, ["started", "retrying", "started", "retrying", "started", "failed"])
})
