import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { advance } from "./lab.ts"
import { codeOf, fixture, unreachable } from "./virtual-locks.ts"

describe("a held lock", () => {
  test("is lost when its time is up, and its signal is aborted", async () => {
    const { clock, locks } = fixture()
    const lock = await locks.acquire("invoices", { ttl: "10s" })

    await advance(clock, 9_999)
    const early = lock.signal.aborted
    await advance(clock, 1)

    assert.deepEqual([early, lock.signal.aborted, lock.expiresInMs], [false, true, 0])
    assert.equal(codeOf(lock.signal.reason), "BELFRY_LOCK_LOST")
    assert.equal(await lock.release(), false)
  })

  test("counts its time from before the request was sent, not from the answer", async () => {
    const { clock, locks } = fixture((correct) => ({
      async acquire(name, token, ttlMs) {
        clock.timeline.jumpTo(clock.timeline.now + 4_000)
        return correct.acquire(name, token, ttlMs)
      },
    }))

    const lock = await locks.acquire("invoices", { ttl: "10s" })

    assert.equal(lock.expiresInMs, 6_000)
  })

  test("is extended for the given time from now, by default for the same time as last", async () => {
    const { clock, locks } = fixture()
    const lock = await locks.acquire("invoices", { ttl: "10s" })
    await advance(clock, 8_000)

    await lock.extend()
    const once = lock.expiresInMs
    await lock.extend("1m")
    await advance(clock, 59_000)

    assert.deepEqual([once, lock.expiresInMs, lock.signal.aborted], [10_000, 1_000, false])
  })

  test("can't be extended once it is lost or released", async () => {
    const { clock, locks } = fixture()
    const lost = await locks.acquire("invoices", { ttl: "1s" })
    const released = await locks.acquire("letters")
    await advance(clock, 1_000)
    await released.release()

    assert.equal(codeOf(await lost.extend("1m").catch((error) => error)), "BELFRY_LOCK_LOST")
    assert.equal(codeOf(await released.extend("1m").catch((error) => error)), "BELFRY_LOCK_INVALID")
  })

  test("is lost when the backend refuses an extension", async () => {
    const { locks } = fixture(() => ({ extend: async () => false }))
    const lock = await locks.acquire("invoices")

    const error = await lock.extend().catch((error) => error)

    assert.deepEqual([codeOf(error), lock.signal.reason], ["BELFRY_LOCK_LOST", error])
  })

  test("counts a shorter time at once, even if the answer is lost", async () => {
    const { clock, locks } = fixture(() => ({ extend: async () => unreachable() }))
    const lock = await locks.acquire("invoices", { ttl: "1m" })

    await assert.rejects(lock.extend("5s"), /unreachable/)
    const afterShorter = lock.expiresInMs
    await assert.rejects(lock.extend("2m"), /unreachable/)

    assert.deepEqual([afterShorter, lock.expiresInMs], [5_000, 5_000])
    await advance(clock, 5_000)
    assert.equal(codeOf(lock.signal.reason), "BELFRY_LOCK_LOST")
  })

  test("is unchanged after an invalid extension", async () => {
    const { locks } = fixture()
    const lock = await locks.acquire("invoices", { ttl: "1m" })

    assert.equal(codeOf(await lock.extend(0).catch((error) => error)), "BELFRY_LOCK_INVALID")

    assert.deepEqual([lock.expiresInMs, lock.signal.aborted], [60_000, false])
  })

  test("is free at the end of its block, and several releases are one", async () => {
    let releases = 0
    const { locks, others } = fixture((correct) => ({
      release(name, token) {
        releases++
        return correct.release(name, token)
      },
    }))
    {
      await using lock = await locks.acquire("invoices")
      assert.deepEqual([await lock.release(), await lock.release()], [true, true])
    }

    assert.equal(releases, 1)
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("doesn't hide the block's own error if its release fails", async () => {
    const { locks } = fixture(() => ({ release: async () => unreachable() }))

    const error = await (async () => {
      await using _lock = await locks.acquire("invoices")
      throw new Error("the block's own")
    })().catch((error) => error)

    assert.equal(error.message, "the block's own")
  })
})
