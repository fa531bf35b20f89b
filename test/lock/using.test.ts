import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { advance } from "./lab.ts"
import { away, codeOf, fixture } from "./virtual-locks.ts"

/** Work that ends when it is told to. */
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
  test("is given the fence and a signal, and what it returns is the answer", async () => {
    const { locks, others } = fixture()

    const answer = await locks.using("invoices", {}, ({ name, fence, signal }) => [
      name,
      fence,
      signal.aborted,
    ])

    assert.deepEqual(answer, ["invoices", 1, false])
    assert.notEqual(await others.tryAcquire("invoices"), null)
  })

  test("keeps the lock for as long as it lasts, by three extensions a ttl", async () => {
    let extensions = 0
    const { clock, locks, others } = fixture((sound) => ({
      extend(name, token, ttlMs) {
        extensions++
        return sound.extend(name, token, ttlMs)
      },
    }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "30s" }, () => work.promise)

    await advance(clock, 600_000)
    const meanwhile = await others.tryAcquire("invoices")
    work.resolve("done")

    assert.deepEqual([await answer, meanwhile, extensions], ["done", null, 60])
    await advance(clock, 60_000)
    assert.equal(extensions, 60, "nothing is extended afterwards")
  })

  test("goes on while every other extension fails", async () => {
    let calls = 0
    const { clock, locks } = fixture((sound) => ({
      extend: async (name, token, ttlMs) => (++calls % 2 === 0 ? sound.extend(name, token, ttlMs) : away()),
    }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "30s" }, () => work.promise)

    await advance(clock, 600_000)
    work.resolve("done")

    assert.equal(await answer, "done")
  })

  test("is told when the lock's time is up, by the last extension that was sent in time", async () => {
    let isAway = false
    const { clock, locks } = fixture((sound) => ({
      extend: async (name, token, ttlMs) => (isAway ? away() : sound.extend(name, token, ttlMs)),
    }))
    const work = someWork<string>()
    let signal!: AbortSignal
    const answer = locks.using("invoices", { ttl: "30s" }, (lock) => {
      signal = lock.signal
      return work.promise
    })
    await advance(clock, 15_000)
    isAway = true

    // Extended last at 10 s.
    await advance(clock, 24_999)
    const early = signal.aborted
    await advance(clock, 1)
    work.resolve("done all the same")

    assert.deepEqual([early, signal.aborted, codeOf(signal.reason)], [false, true, "BELFRY_LOCK_LOST"])
    assert.equal(await answer.catch((error) => error), signal.reason)
  })

  test("is told at once when the backend says that the lock is somebody else's", async () => {
    let isOurs = true
    const { clock, locks } = fixture(() => ({ extend: async () => isOurs }))
    const answer = locks.using(
      "invoices",
      { ttl: "30s" },
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    )
    await advance(clock, 15_000)
    isOurs = false

    const [error] = await Promise.all([answer.catch((error) => error), advance(clock, 5_000)])

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("isn't done if the lock was gone at its end, though nobody noticed before", async () => {
    const { locks } = fixture(() => ({ release: async () => false }))

    const error = await locks.using("invoices", {}, () => "done").catch((error) => error)

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("is done if only the release can't be sent: the lock was ours, and ends with its time", async () => {
    const { locks } = fixture(() => ({ release: async () => away() }))

    assert.equal(await locks.using("invoices", {}, () => "done"), "done")
  })

  test("isn't done if the process stood still for longer than the ttl, though no timer has rung", async () => {
    const { clock, locks } = fixture(() => ({ release: async () => away() }))

    const error = await locks
      .using("invoices", { ttl: "30s" }, () => clock.timeline.jumpTo(clock.timeline.now + 31_000))
      .catch((error) => error)

    assert.equal(codeOf(error), "BELFRY_LOCK_LOST")
  })

  test("that fails releases the lock, and its error is the answer", async () => {
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

  test("that fails is told by its own error, also if the lock is lost and the release fails", async () => {
    const { clock, locks } = fixture(() => ({ extend: async () => false, release: async () => away() }))
    const work = someWork<string>()
    const answer = locks.using("invoices", { ttl: "3s" }, () => work.promise).catch((error) => error)
    await advance(clock, 5_000)

    work.reject(new Error("the work's own"))

    assert.equal((await answer).message, "the work's own")
  })

  test("isn't begun if the lock can't be had", async () => {
    const { locks, others } = fixture()
    await others.acquire("invoices")
    let isBegun = false

    const error = await locks
      .using("invoices", {}, () => {
        isBegun = true
      })
      .catch((error) => error)

    assert.deepEqual([codeOf(error), isBegun], ["BELFRY_LOCK_HELD", false])
  })
})
