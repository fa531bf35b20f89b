import assert from "node:assert/strict"
import type { LockBackend } from "../backend.ts"
import {
  acquired,
  assertHeld,
  extendedInTime,
  foundHeld,
  LONG_MS,
  type LockLaw,
  lawCase,
  SHORT_MS,
  together,
  withPeers,
} from "./law.ts"

export const ALONE: LockLaw = {
  number: 1,
  name: "Alone",
  statement: "A name has one holder at a time.",
  cases: [
    lawCase("Of forty callers that request a free lock at once, one acquires it", async (locks, lab) => {
      const peers = await withPeers(locks, lab)

      for (const name of RACES) assert.equal(await winnersOf(name, peers), 1, name)
    }),
    lawCase(
      "Of forty callers that request a lock at once after its time is up, one acquires it",
      async (locks, lab) => {
        const peers = await withPeers(locks, lab)
        for (const name of RACES) await acquired(locks, name, "dead", SHORT_MS)
        await lab.pass(2 * SHORT_MS)

        for (const name of RACES) assert.equal(await winnersOf(name, peers), 1, name)
      },
    ),
    lawCase("A request that finds the lock held changes nothing", async (locks, lab) => {
      await acquired(locks, "invoices", "first")
      const peer = await lab.openPeer()

      await assertHeld(peer, "invoices")

      assert.equal(await peer.release("invoices", "a-stranger"), false)
      assert.equal(await locks.extend("invoices", "first", LONG_MS), true)
    }),
    lawCase("Different names have different holders", async (locks) => {
      await acquired(locks, "invoices", "first")

      await acquired(locks, "letters", "second")
    }),
  ],
}

/** A broken backend could pass a single race by chance. */
const RACES = Array.from({ length: 10 }, (_, index) => `race-${index}`)

/** How many of forty callers acquire the lock when they request it at once. */
async function winnersOf(name: string, peers: readonly LockBackend[]): Promise<number> {
  const answers = await together(peers, 40, (peer, index) => peer.acquire(name, `t${index}`, LONG_MS))
  return answers.filter(({ outcome }) => outcome === "acquired").length
}

export const OWNED: LockLaw = {
  number: 2,
  name: "Owned",
  statement: "Only the holder can extend or release a lock, and only while it holds the lock.",
  cases: [
    lawCase("Another token can't extend a lock", async (locks) => {
      await acquired(locks, "invoices", "first", LONG_MS)

      assert.equal(await locks.extend("invoices", "second", 2 * LONG_MS), false)

      assert.ok((await assertHeld(locks, "invoices")) <= LONG_MS, "the hold isn't extended")
    }),
    lawCase("Another token can't release a lock", async (locks) => {
      await acquired(locks, "invoices", "first")

      assert.equal(await locks.release("invoices", "second"), false)

      await assertHeld(locks, "invoices")
    }),
    lawCase("A released lock is free at once for every caller", async (locks, lab) => {
      await acquired(locks, "invoices", "first")
      const peer = await lab.openPeer()

      assert.equal(await locks.release("invoices", "first"), true)

      await acquired(peer, "invoices", "second")
    }),
    lawCase("A lock that isn't held can be neither extended nor released", async (locks) => {
      await acquired(locks, "invoices", "first")
      await locks.release("invoices", "first")

      assert.equal(await locks.extend("invoices", "first", LONG_MS), false)
      assert.equal(await locks.release("invoices", "first"), false)
      assert.equal(await locks.extend("never-held", "first", LONG_MS), false)
      await acquired(locks, "invoices", "second")
    }),
    lawCase("An extended lock is held beyond its first time", async (locks, lab) => {
      const { name, ttlMs } = await extendedInTime(locks)

      await lab.pass(2 * ttlMs)

      await assertHeld(locks, name)
    }),
    lawCase("An extension counts from now, and can also shorten the hold", async (locks, lab) => {
      await acquired(locks, "invoices", "first", LONG_MS)

      await locks.extend("invoices", "first", SHORT_MS)
      await lab.pass(2 * SHORT_MS)

      await acquired(locks, "invoices", "second")
    }),
  ],
}

export const PASSING: LockLaw = {
  number: 3,
  name: "Passing",
  statement: "A hold ends by itself when its time is up. The holder can then neither extend nor release it.",
  cases: [
    lawCase("A lock whose time is up is free", async (locks, lab) => {
      const { name, ttlMs } = await foundHeld(locks)

      await lab.pass(2 * ttlMs)

      await acquired(await lab.openPeer(), name, "second")
    }),
    lawCase("A holder can neither extend nor release after its time is up", async (locks, lab) => {
      await acquired(locks, "extended", "first", SHORT_MS)
      await acquired(locks, "released", "first", SHORT_MS)
      await lab.pass(2 * SHORT_MS)

      assert.equal(await locks.extend("extended", "first", LONG_MS), false)
      assert.equal(await locks.release("released", "first"), false)
      await acquired(locks, "extended", "second")
    }),
    lawCase("A late holder changes nothing for the next holder", async (locks, lab) => {
      await acquired(locks, "invoices", "first", SHORT_MS)
      await lab.pass(2 * SHORT_MS)
      await acquired(locks, "invoices", "second", LONG_MS)

      assert.equal(await locks.extend("invoices", "first", 1), false)
      assert.equal(await locks.release("invoices", "first"), false)

      assert.equal(await locks.extend("invoices", "second", LONG_MS), true)
    }),
  ],
}
