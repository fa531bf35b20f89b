import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { Locks } from "../../src/lock/locks.ts"
import { createMemoryLocks } from "../../src/lock/memory.ts"
import { BelfryError, type LockBackend } from "../../src/lock.ts"
import { advance, aVirtualClock, turn } from "./lab.ts"

/** On virtual time, in memory. A failing backend is the memory backend with one operation replaced. */

function fixture(change: (correct: LockBackend) => Partial<LockBackend> = () => ({})) {
  const clock = aVirtualClock()
  const correct = createMemoryLocks(clock)
  const backend = { ...correct, ...change(correct) }
  return { clock, backend, locks: new Locks(backend, clock), others: new Locks(correct, clock) }
}

function unreachable(): never {
  throw new BelfryError("BELFRY_STORE_UNAVAILABLE", "The database is unreachable.")
}

/** The state of a promise, without waiting for it. */
function watched<T>(promise: Promise<T>) {
  const seen: { value?: T; error?: unknown; isOver: boolean } = { isOver: false }
  promise.then(
    (value) => Object.assign(seen, { value, isOver: true }),
    (error) => Object.assign(seen, { error, isOver: true }),
  )
  return seen
}

const codeOf = (error: unknown) => (error as BelfryError | undefined)?.code

describe("acquire", () => {
  test("a free lock is acquired, with its fence and its time", async () => {
    const { locks } = fixture()

    await using lock = await locks.acquire("invoices", { ttl: "10s" })

    assert.deepEqual([lock.name, lock.fence, lock.expiresInMs], ["invoices", 1, 10_000])
    assert.equal(lock.signal.aborted, false)
  })

  test("without `wait`, acquire rejects at once if the lock is held, and tryAcquire returns null", async () => {
    const { locks, others } = fixture()
    await others.acquire("invoices", { ttl: "10s" })

    const error = await locks.acquire("invoices").catch((error) => error)

    assert.equal(codeOf(error), "BELFRY_LOCK_HELD")
    assert.match(error.message, /"invoices" is held by another holder, for 10000 ms/)
    assert.equal(await locks.tryAcquire("invoices"), null)
    assert.notEqual(await locks.tryAcquire("letters"), null)
  })

  test("a waiting caller gets the lock soon after it is released", async () => {
    const { clock, locks, others } = fixture()
    const first = await others.acquire("invoices", { ttl: "1h" })
    const waiting = watched(locks.acquire("invoices", { ttl: "10s", wait: "1m" }))
    await advance(clock, 20_000)
    assert.equal(waiting.isOver, false)

    await first.release()
    await advance(clock, 400)

    assert.equal(waiting.value?.fence, 2)
  })

  test("a waiting caller gets the lock of a dead holder soon after its time is up", async () => {
    const { clock, locks, others } = fixture()
    await others.acquire("invoices", { ttl: "10s" })
    const waiting = watched(locks.acquire("invoices", { wait: "1m" }))

    await advance(clock, 10_050)

    assert.equal(waiting.value?.fence, 2)
  })

  test("a caller that has waited for all of `wait` gets BELFRY_LOCK_HELD", async () => {
    const { clock, locks, others } = fixture()
    await others.acquire("invoices", { ttl: "1h" })
    const waiting = watched(locks.acquire("invoices", { wait: "10s" }))

    await advance(clock, 9_999)
    const early = waiting.isOver
    await advance(clock, 1)

    assert.deepEqual([early, codeOf(waiting.error)], [false, "BELFRY_LOCK_HELD"])
  })

  test("a hundred waiting callers ask a few times a second each, and not all at once", async () => {
    const asked: number[] = []
    const { clock, locks, others } = fixture((correct) => ({
      acquire(name, token, ttlMs) {
        asked.push(clock.monotonic())
        return correct.acquire(name, token, ttlMs)
      },
    }))
    await others.acquire("invoices", { ttl: "1h" })
    for (let index = 0; index < 100; index++) watched(locks.acquire("invoices", { wait: "9s" }))

    await advance(clock, 8_000)

    const settled = asked.filter((at) => at > 2_000)
    const perSecond = settled.length / 6 / 100
    const tens = settled.map((at) => Math.floor(at / 10))
    const together = Math.max(...tens.map((ten) => tens.filter((each) => each === ten).length))
    assert.ok(perSecond > 3 && perSecond < 6, `each asks ${perSecond} times a second`)
    assert.ok(together < 20, `${together} ask in the same 10 ms`)
  })

  test("a signal ends the wait with its reason, and nothing is held", async () => {
    const { clock, locks, others } = fixture()
    const first = await others.acquire("invoices", { ttl: "1h" })
    const stopping = new AbortController()
    const waiting = watched(locks.acquire("invoices", { wait: "1m", signal: stopping.signal }))
    await advance(clock, 5_000)

    stopping.abort(new Error("stopping"))
    await turn()

    assert.equal((waiting.error as Error).message, "stopping")
    await first.release()
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("a signal that is aborted while the backend answers leaves nothing held", async () => {
    const stopping = new AbortController()
    const { locks, others } = fixture((correct) => ({
      async acquire(name, token, ttlMs) {
        const answer = await correct.acquire(name, token, ttlMs)
        stopping.abort(new Error("stopping"))
        return answer
      },
    }))

    await assert.rejects(locks.acquire("invoices", { wait: "1m", signal: stopping.signal }), /stopping/)

    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("an unreachable backend is asked again until `wait` is over, with the same token", async () => {
    let calls = 0
    const { clock, locks } = fixture((correct) => ({
      async acquire(name, token, ttlMs) {
        const answer = await correct.acquire(name, token, ttlMs)
        // The lock is taken, and the answer is lost.
        return ++calls < 3 ? unreachable() : answer
      },
    }))

    const waiting = watched(locks.acquire("invoices", { wait: "10s" }))
    await advance(clock, 1_000)

    assert.equal(waiting.value?.fence, 1)
  })

  test("if the backend stays unreachable, acquire rejects and releases a lock whose answer was lost", async () => {
    const { clock, locks, others } = fixture((correct) => ({
      async acquire(name, token, ttlMs) {
        await correct.acquire(name, token, ttlMs)
        return unreachable()
      },
    }))

    const waiting = watched(locks.acquire("invoices", { wait: "2s" }))
    await advance(clock, 3_000)

    assert.equal(codeOf(waiting.error), "BELFRY_STORE_UNAVAILABLE")
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("an answer that takes longer than the ttl gives no lock, and the lock is released", async () => {
    const { clock, locks, others } = fixture((correct) => ({
      acquire(name, token, ttlMs) {
        clock.timeline.jumpTo(clock.timeline.now + 2_000)
        return correct.acquire(name, token, ttlMs)
      },
    }))

    assert.equal(await locks.tryAcquire("invoices", { ttl: "1s" }), null)
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test.each([
    ["", {}, "BELFRY_LOCK_INVALID"],
    ["invoices", { ttl: 0 }, "BELFRY_LOCK_INVALID"],
    ["invoices", { ttl: 99 }, "BELFRY_LOCK_INVALID"],
    ["invoices", { ttl: "soon" as "1s" }, "BELFRY_DURATION_INVALID"],
    ["invoices", { wait: -1 }, "BELFRY_DURATION_INVALID"],
  ])("%j with %j is refused", async (name, options, code) => {
    const error = await fixture()
      .locks.acquire(name, options)
      .catch((error) => error)

    assert.equal(codeOf(error), code)
  })
})
