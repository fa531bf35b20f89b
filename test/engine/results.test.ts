import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { defineTask } from "../../src/index.ts"
import { createTestScheduler } from "../../src/testing.ts"

/** A run of the task, which has one attempt. */
async function runOf(perform: () => unknown) {
  const task = defineTask({ name: "task", retry: { attempts: 1 }, run: perform })
  await using test = await createTestScheduler({ tasks: [task] })
  await test.scheduler.enqueue(task)
  await test.advance("1s")
  const [run] = await test.runs()
  return run!
}

const circular: Record<string, unknown> = { name: "loop" }
circular["self"] = circular

describe("returned values", () => {
  test("the result success: true sets message and details of the run", async () => {
    const run = await runOf(() => ({ success: true, message: "812 sent", details: { sent: 812 } }))

    assert.deepEqual([run.state, run.success, run.message], ["succeeded", true, "812 sent"])
    assert.deepEqual(run.details, { sent: 812 })
  })

  test("the result success: false fails the attempt, with its message as the error", async () => {
    const run = await runOf(() => ({ success: false, message: "no mail server" }))

    assert.deepEqual([run.state, run.success, run.error], ["failed", false, "no mail server"])
  })

  test("the result success: false without a message gives a default error", async () => {
    const run = await runOf(() => ({ success: false }))

    assert.equal(run.error, "The task reported failure")
  })

  test("any other result is stored as details", async () => {
    const given = [{ sent: 1 }, [1, 2], "text", 0, false, { success: "yes" }]

    for (const value of given) assert.deepEqual((await runOf(() => value)).details, value)
  })

  test("the details of a task that returns undefined or a function are null", async () => {
    assert.equal((await runOf(() => undefined)).details, null)
    assert.equal((await runOf(() => () => undefined)).details, null)
  })

  const UNSTORABLE: Readonly<Record<string, () => unknown>> = {
    "a circular object": () => circular,
    "a BigInt": () => ({ big: 10n }),
    "an object whose getter throws": () => ({
      get trap() {
        throw new Error("trap")
      },
    }),
    "an object whose `success` throws": () => ({
      get success() {
        throw new Error("trap")
      },
    }),
    "two megabytes": () => "x".repeat(2_000_000),
    "an array 100,000 deep": () => {
      let nested: unknown[] = []
      for (let depth = 0; depth < 100_000; depth++) nested = [nested]
      return nested
    },
  }
  for (const [name, make] of Object.entries(UNSTORABLE)) {
    test(`a run that returns ${name} succeeds, and its details say why the result isn't stored`, async () => {
      const run = await runOf(make)

      assert.equal(run.state, "succeeded")
      assert.match(JSON.stringify(run.details), /^\{"notStored":".+"\}$/)
    })
  }

  test("a message longer than 8 KiB is cut", async () => {
    const run = await runOf(() => ({ success: true, message: "é".repeat(10_000) }))

    assert.ok(Buffer.byteLength(run.message!) <= 8_192)
    assert.ok(run.message!.endsWith("… (cut)"))
  })
})

class Strange extends Error {
  override get message(): string {
    throw new Error("trap")
  }
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

describe("thrown values", () => {
  const THROWN: Readonly<Record<string, readonly [make: () => unknown, shown: RegExp]>> = {
    "an error": [() => new Error("no luck"), /^Error: no luck\n\s+at /],
    "an error with a cause": [
      () => new Error("outer", { cause: new Error("inner") }),
      /Caused by: Error: inner/,
    ],
    "an error with a circular cause": [() => new Error("outer", { cause: circular }), /outer/],
    "a string": [() => "just text", /^just text$/],
    "an empty string": [() => "", /^$/],
    "a symbol": [() => Symbol("sign"), /^symbol Symbol\(sign\)$/],
    "a BigInt": [() => 10n, /^bigint 10$/],
    null: [() => null, /^object null$/],
    undefined: [() => undefined, /^undefined undefined$/],
    "a number": [() => Number.NaN, /^number NaN$/],
    "a plain object": [() => ({ code: 7 }), /^\{"code":7\}$/],
    "a circular object": [() => circular, /can't be described/],
    "a revoked proxy": [revoked, /can't be described/],
    "an object whose getter throws": [
      () => ({
        get a() {
          throw new Error("trap")
        },
      }),
      /can't be described/,
    ],
    "an error whose message throws": [() => new Strange(), /./],
    "an object without a prototype": [() => Object.create(null), /^\{\}$/],
    "a function": [() => () => 1, /^function/],
    "an error with a message of ten megabytes": [() => new Error("x".repeat(10_000_000)), /… \(cut\)$/],
    "text with NUL characters": [() => "a\u0000b", /^a\ufffdb$/],
    "text with a lone surrogate": [() => "a\ud83db", /^a\ufffdb$/],
    "a promise": [() => Promise.resolve(1), /^\{\}$/],
  }
  for (const [name, [make, shown]] of Object.entries(THROWN)) {
    test(`a task that throws ${name} fails with a stored error`, async () => {
      const run = await runOf(() => {
        throw make()
      })

      assert.deepEqual([run.state, run.success, run.attempt, run.lost], ["failed", false, 1, 0])
      assert.match(run.error!, shown)
      assert.ok(Buffer.byteLength(run.error!) <= 8_192)
      assert.ok(run.error!.isWellFormed() && !run.error!.includes("\u0000"))
    })

    test(`a task that rejects with ${name} fails with a stored error`, async () => {
      const run = await runOf(() => Promise.reject(make()))

      assert.equal(run.state, "failed")
      assert.match(run.error!, shown)
    })
  }
})

describe("the stack of a stored error", () => {
  test.each([
    ["an error thrown at once", () => fail("at once")],
    ["an error thrown in a promise", () => Promise.resolve().then(() => fail("later"))],
    [
      "an error thrown after an await",
      async () => {
        await Promise.resolve()
        fail("later")
      },
    ],
  ])("the stack of %s has the frames of the task and none of the engine", async (_, perform) => {
    const { error } = await runOf(perform)

    assert.match(error ?? "", /at fail \(.*results\.test\.ts/)
    assert.doesNotMatch(error ?? "", /src\/engine/)
  })
})

function fail(why: string): never {
  throw new Error(why)
}
