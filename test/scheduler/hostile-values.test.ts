import assert from "node:assert/strict"
import { BelfryError, createScheduler, defineTask, memory, silentLogger } from "belfry"
import { describe as describeCron, lint, next, occurrences, parse, previous } from "belfry/cron"
import { inspect } from "belfry/postgres"
import { commandTask, webhookIdOf } from "belfry/tasks"
import { createTestScheduler, waitForRun } from "belfry/testing"
import { describe, test } from "vitest"

/** Every function throws a `BelfryError` for any invalid value. */

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
const INVALID: readonly unknown[] = [
  ...UNREADABLE,
  ...[undefined, null, true, 5, 10n, Symbol("s"), [], {}, () => 1, Object.create(null), new Error("e")],
  ...[
    { name: "x" },
    { name: "x", payload: 5, retry: {}, run: fail },
    { kind: "calendar" },
    { kind: "interval" },
  ],
]

async function isUnstorable(call: () => unknown): Promise<void> {
  await assert.rejects(async () => void (await call()), BelfryError)
}

const task = defineTask({ name: "t", run: () => undefined })

describe("an invalid value is refused with a BelfryError by", () => {
  test("enqueue, for a task", async () => {
    await using scheduler = createScheduler({ store: memory(), tasks: [task], logger: silentLogger })
    for (const invalid of INVALID) await isUnstorable(() => scheduler.enqueue(invalid as never))
  })

  test("every function of belfry/cron, for a cron", async () => {
    for (const invalid of ["* * * * *", ...INVALID] as never[]) {
      await isUnstorable(() => next(invalid, 0))
      await isUnstorable(() => previous(invalid, 0))
      await isUnstorable(() => occurrences(invalid, { after: 0, limit: 1 }))
      await isUnstorable(() => describeCron(invalid))
      await isUnstorable(() => lint(invalid, { now: 0 }))
    }
    assert.throws(
      () => next("* * * * *" as never, 0),
      /next: cron is "\* \* \* \* \*"; use the result of `parse`/,
    )
    assert.throws(
      () => parse("@daily", { timezone: "Mars" }),
      /^BelfryError: parse: timezone: Time zone "Mars" is/,
    )
    for (const invalid of UNREADABLE) await isUnstorable(() => next(parse("@daily"), invalid as never))
  })

  test("webhookIdOf and inspect", async () => {
    for (const invalid of INVALID as never[]) {
      await isUnstorable(() => webhookIdOf(invalid))
      await isUnstorable(() => inspect(invalid))
    }
  })

  test("functions with unreadable options", async () => {
    await using test = await createTestScheduler({ tasks: [task] })
    for (const invalid of UNREADABLE as never[]) {
      await isUnstorable(() => defineTask(invalid))
      await isUnstorable(() => task.schedule("s", invalid))
      await isUnstorable(() => commandTask(invalid))
      await isUnstorable(() => commandTask({ commands: invalid }))
      await isUnstorable(() => commandTask({ commands: { a: invalid } }))
      await isUnstorable(() => createTestScheduler(invalid))
      await isUnstorable(() => waitForRun(test.scheduler, invalid, { timeout: 1 }))
    }
  })
})

test("an invalid log line or progress message never fails the run", async () => {
  const invalid = [...INVALID, { toString: fail }] as never[]
  const chatty = defineTask({
    name: "chatty",
    run({ log, progress }) {
      for (const each of invalid) {
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
  assert.equal(messages.length, invalid.length)
  assert.deepEqual([messages[0], messages.at(-1)], ["an unreadable object", "an object"])
})
