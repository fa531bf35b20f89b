import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { newReader, nextOf, readAgainAt, type Share, shareMsFor, sharesToTake } from "./shares.ts"

const NOW = 1_000
const US = 7
const free = (share: number, due: number): Share => ({ share, due, givenTo: 0, givenUntil: 0 })
const expired = (share: number, due: number): Share => ({ share, due, givenTo: 8, givenUntil: NOW })
const ours = (share: number, due: number): Share => ({ share, due, givenTo: US, givenUntil: NOW + 50 })
const theirs = (share: number, due: number, givenUntil = NOW + 50): Share => ({
  ...{ share, due, givenTo: 8, givenUntil },
})

describe("the shares that a read takes", () => {
  test.each([
    { what: "none if nothing is due", shares: [], limit: 10, taken: [] },
    { what: "none if the limit is 0", shares: [free(1, 5)], limit: 0, taken: [] },
    {
      what: "all if there is room",
      shares: [free(1, 5), free(2, 4), free(3, 1)],
      limit: 10,
      taken: [1, 2, 3],
    },
    {
      what: "the fullest first, until there is no room",
      shares: [free(1, 2), free(2, 9), free(3, 5)],
      limit: 10,
      taken: [2, 3],
    },
    { what: "the reader's own again", shares: [ours(1, 5)], limit: 10, taken: [1] },
    { what: "shares whose time is over", shares: [expired(1, 5)], limit: 10, taken: [1] },
    { what: "none that another reader has", shares: [theirs(1, 5)], limit: 10, taken: [] },
    {
      what: "at most two while other readers have shares",
      shares: [free(1, 3), theirs(2, 3), free(3, 2), free(4, 1)],
      limit: 10,
      taken: [1, 3],
    },
  ])("$what", ({ shares, limit, taken }) => {
    const given = sharesToTake(shares, { reader: US, now: NOW, limit })

    assert.deepEqual(
      given.map(({ share }) => share),
      taken,
    )
  })
})

describe("a process reads again", () => {
  test.each([
    { what: "when the next schedule is due, if all were given", shares: [ours(1, 5)], given: 5, at: null },
    {
      what: "at once, if no other reader has the rest",
      shares: [free(1, 5), free(2, 5)],
      given: 5,
      at: NOW,
    },
    {
      what: "when the first share of another reader ends",
      shares: [ours(1, 5), theirs(2, 5, 1_070), theirs(3, 5, 1_030)],
      given: 5,
      at: 1_030,
    },
    { what: "at once, if part of the rest is free", shares: [ours(1, 5), theirs(2, 5)], given: 4, at: NOW },
  ])("$what", ({ shares, given, at }) => {
    assert.equal(readAgainAt(shares, given, { reader: US, now: NOW }), at)
  })

  test.each([
    { next: null, again: null, at: null, count: 0 },
    { next: 5_000, again: null, at: 5_000, count: 3 },
    { next: 5_000, again: NOW, at: NOW, count: 0 },
    { next: null, again: NOW, at: NOW, count: 0 },
    { next: 1_020, again: 1_050, at: 1_020, count: 3 },
  ])("next $next, again $again: at $at", ({ next, again, at, count }) => {
    const answer = nextOf({ at: next, count: next === null ? 0 : 3 }, again)

    assert.deepEqual(answer, { nextDueAt: at, nextDueCount: count })
  })
})

test.each([
  { due: 1, aheadMs: 0, ms: 100 },
  { due: 1_000, aheadMs: 0, ms: 300 },
  { due: 100, aheadMs: 200, ms: 120 },
  { due: 500, aheadMs: 1_000, ms: 500 },
  { due: 1, aheadMs: 86_400_000, ms: 500 },
])("with $due schedules due, read $aheadMs ms ahead, a share lasts $ms ms", ({ due, aheadMs, ms }) => {
  assert.equal(shareMsFor({ due, aheadMs }), ms)
})

test("a reader's number is from 1 to 2^31 - 1, never the 0 of an untaken share", () => {
  assert.deepEqual([newReader(0), newReader(1 - 2 ** -53)], [1, 2 ** 31 - 1])
})
