import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "belfry"
import { describe as inWords, lint, next, occurrences, parse, previous } from "belfry/cron"
import { inspect } from "belfry/postgres"
import { commandTask, webhookIdOf } from "belfry/tasks"
import { createTestScheduler, waitForRun } from "belfry/testing"
import { describe, test } from "vitest"

/** Whatever a function is given, its error is a `BelfryError`. */

const { proxy: revoked, revoke } = Proxy.revocable({}, {})
revoke()

const fail = () => {
  throw new Error("by the value itself")
}
const UNREADABLE: readonly unknown[] = [
  revoked,
  new Proxy({}, { get: fail, ownKeys: fail, getPrototypeOf: fail, has: fail }),
  {
    get anything() {
      return fail()
    },
  },
]
const ODD: readonly unknown[] = [
  ...UNREADABLE,
  ...[undefined, null, true, 5, 10n, Symbol("s"), [], {}, () => 1, Object.create(null), new Error("e")],
  ...[
    { name: "x" },
    { name: "x", payload: 5, retry: {}, run: fail },
    { kind: "calendar" },
    { kind: "interval" },
  ],
]

async function isRefused(call: () => unknown): Promise<void> {
  await assert.rejects(async () => void (await call()), BelfryError)
}

const task = defineTask({ name: "t", run: () => undefined })

describe("a value that can't be meant is refused with a BelfryError by", () => {
  test("enqueue, for a task", async () => {
    await using scheduler = createScheduler({ store: memory(), tasks: [task], logger: silentLogger })
    for (const odd of ODD) await isRefused(() => scheduler.enqueue(odd as never))
  })

  test("every function of belfry/cron, for a cron", async () => {
    for (const odd of ["* * * * *", ...ODD] as never[]) {
      await isRefused(() => next(odd, 0))
      await isRefused(() => previous(odd, 0))
      await isRefused(() => occurrences(odd, { after: 0, limit: 1 }))
      await isRefused(() => inWords(odd))
      await isRefused(() => lint(odd, { now: 0 }))
    }
    assert.throws(
      () => next("* * * * *" as never, 0),
      /next: cron is "\* \* \* \* \*"; use what `parse` returns/,
    )
    assert.throws(
      () => parse("@daily", { timezone: "Mars" }),
      /^BelfryError: parse: timezone: Time zone "Mars" is/,
    )
    for (const odd of UNREADABLE) await isRefused(() => next(parse("@daily"), odd as never))
  })

  test("webhookIdOf and inspect", async () => {
    for (const odd of ODD as never[]) {
      await isRefused(() => webhookIdOf(odd))
      await isRefused(() => inspect(odd))
    }
  })

  test("those that take options which can't be read", async () => {
    await using test = await createTestScheduler({ tasks: [task] })
    for (const odd of UNREADABLE as never[]) {
      await isRefused(() => defineTask(odd))
      await isRefused(() => task.schedule("s", odd))
      await isRefused(() => commandTask(odd))
      await isRefused(() => commandTask({ commands: odd }))
      await isRefused(() => commandTask({ commands: { a: odd } }))
      await isRefused(() => createTestScheduler(odd))
      await isRefused(() => waitForRun(test.scheduler, odd, { timeout: 1 }))
    }
  })
})

test("a log line and a message of progress never fail their run, whatever they are", async () => {
  const odd = [...ODD, { toString: fail }] as never[]
  const chatty = defineTask({
    name: "chatty",
    run({ log, progress }) {
      for (const each of odd) {
        log.info(each, each)
        progress(0.5, each)
      }
      assert.throws(() => progress(Symbol("s") as never), BelfryError)
    },
  })
  await using test = await createTestScheduler({ tasks: [chatty] })

  const { runId } = await test.scheduler.enqueue(chatty)
  await test.advance("1s")

  assert.equal((await test.scheduler.runs.get(runId))?.state, "succeeded")
  const messages = (await test.scheduler.runs.logs(runId)).items.map(({ message }) => message)
  assert.equal(messages.length, odd.length)
  assert.deepEqual([messages[0], messages.at(-1)], ["an unreadable object", "an object"])
})
