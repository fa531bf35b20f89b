import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { advance } from "./lab.ts"
import { codeOf, fixture, unreachable } from "./virtual-locks.ts"

/** Work that the test ends. */
function someWork<T>() {
  let resolve!: (value: T) => void
  let reject!: (error: unknown) => void
  const promise = new Promise<T>((yes, no) => {
    resolve = yes
    reject = no
  })
  return { promise, resolve, reject }
}

describe("work under a lock", () => {
  test("gets the fence and a signal, and its result is returned", async () => {
    const { locks, others } = fixture()

    const answer = await locks.using("invoices", {}, ({ name, fence, signal }) => [
      name,
      fence,
      signal.aborted,
    ])

    assert.deepEqual(answer, ["invoices", 1, false])
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("keeps the lock until it ends, by three extensions per ttl", async () => {
    let extensions = 0
    const { clock, locks, others } = fixture((correct) => ({
      extend(name, token, ttlMs) {
        extensions++
        return correct.extend(name, token, ttlMs)
      },
    }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "30s" }, () => work.promise)

    await advance(clock, 600_000)
    const during = await others.tryAcquire("invoices")
    work.resolve("done")

    assert.deepEqual([await answer, during, extensions], ["done", null, 60])
    await advance(clock, 60_000)
    assert.equal(extensions, 60, "nothing is extended after the work")
  })

  test("goes on while every other extension fails", async () => {
    let calls = 0
    const { clock, locks } = fixture((correct) => ({
      extend: async (name, token, ttlMs) =>
        ++calls % 2 === 0 ? correct.extend(name, token, ttlMs) : unreachable(),
    }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "30s" }, () => work.promise)

    await advance(clock, 600_000)
    work.resolve("done")

    assert.equal(await answer, "done")
  })

  test("has its signal aborted when the time of the last successful extension is up", async () => {
    let isUnreachable = false
    const { clock, locks } = fixture((correct) => ({
      extend: async (name, token, ttlMs) =>
        isUnreachable ? unreachable() : correct.extend(name, token, ttlMs),
    }))
    const work = someWork<string>()
    let signal!: AbortSignal
    const answer = locks.using("invoices", { ttl: "30s" }, (lock) => {
      signal = lock.signal
      return work.promise
    })
    await advance(clock, 15_000)
    isUnreachable = true

    // The last extension was at 10 s.
    await advance(clock, 24_999)
    const early = signal.aborted
    await advance(clock, 1)
    work.resolve("done all the same")

    assert.deepEqual([early, signal.aborted, codeOf(signal.reason)], [false, true, "BELFRY_LOCK_LOST"])
    assert.equal(await answer.catch((error) => error), signal.reason)
  })

  test("has its signal aborted at once when the backend refuses an extension", async () => {
    let isHeld = true
    const { clock, locks } = fixture(() => ({ extend: async () => isHeld }))
    const answer = locks.using(
      "invoices",
      { ttl: "30s" },
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    )
    await advance(clock, 15_000)
    isHeld = false

    const [error] = await Promise.all([answer.catch((error) => error), advance(clock, 5_000)])

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("is rejected if the lock was lost at its end, even if that is noticed only by the release", async () => {
    const { locks } = fixture(() => ({ release: async () => false }))

    const error = await locks.using("invoices", {}, () => "done").catch((error) => error)

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("succeeds if only the release fails: the lock was held, and ends with its time", async () => {
    const { locks } = fixture(() => ({ release: async () => unreachable() }))

    assert.equal(await locks.using("invoices", {}, () => "done"), "done")
  })

  test("is rejected if the process was suspended for longer than the ttl, even if no timer has fired", async () => {
    const { clock, locks } = fixture(() => ({ release: async () => unreachable() }))

    const error = await locks
      .using("invoices", { ttl: "30s" }, () => clock.timeline.jumpTo(clock.timeline.now + 31_000))
      .catch((error) => error)

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("that fails releases the lock, and rejects with its own error", async () => {
    const { locks, others } = fixture()
    const mistake = new Error("the work's own")

    const error = await locks
      .using("invoices", {}, () => {
        throw mistake
      })
      .catch((error) => error)

    assert.equal(error, mistake)
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("that fails rejects with its own error, even if the lock is lost and the release fails", async () => {
    const { clock, locks } = fixture(() => ({
      extend: async () => false,
      release: async () => unreachable(),
    }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "3s" }, () => work.promise).catch((error) => error)
    await advance(clock, 5_000)

    work.reject(new Error("the work's own"))

    assert.equal((await answer).message, "the work's own")
  })

  test("isn't started if the lock can't be acquired", async () => {
    const { locks, others } = fixture()
    await others.acquire("invoices")
    let isStarted = false

    const error = await locks
      .using("invoices", {}, () => {
        isStarted = true
      })
      .catch((error) => error)

    assert.deepEqual([codeOf(error), isStarted], ["BELFRY_LOCK_HELD", false])
  })
})
