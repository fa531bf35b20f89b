import assert from "node:assert/strict"
import { BelfryError, type ErrorCode } from "../../core/errors.ts"
import { acquired, assertHeld, foundHeld, LONG_MS, type LockLaw, lawCase, SHORT_MS } from "./law.ts"

/** Each name is a lock of its own. The composed and the decomposed é look the same but are different characters. */
const NAMES = [
  ...["invoices", "Invoices", "invoices ", " invoices", "invoices\n", "invoices%20", "invoices:1"],
  ...["{invoices}", "*", "'; drop table locks; --", "\\", "ß", "ss", "é", "e\u0301", "🔔"],
]

export const EXACT: LockLaw = {
  number: 6,
  name: "Exact",
  statement: "Names compare exactly: case, accents and spaces count.",
  cases: [
    lawCase("Names that differ in any character are different locks", async (locks) => {
      for (const [index, name] of NAMES.entries()) await acquired(locks, name, `t${index}`)

      for (const [index, name] of NAMES.entries()) {
        assert.equal(await locks.release(name, `t${index}`), true, JSON.stringify(name))
      }
    }),
    lawCase("A name of 255 wide characters counts to its last character", async (locks) => {
      const [first, second] = [`${"語".repeat(254)}a`, `${"語".repeat(254)}b`]

      await acquired(locks, first, "first")
      await acquired(locks, second, "second")

      await assertHeld(locks, first)
    }),
    lawCase("Tokens compare exactly", async (locks) => {
      await acquired(locks, "invoices", "Token")

      for (const token of ["token", "Token ", "Toke", "1 Token", "%"]) {
        assert.equal(await locks.release("invoices", token), false, JSON.stringify(token))
      }
    }),
  ],
}

export const ONE_CLOCK: LockLaw = {
  number: 7,
  name: "One clock",
  statement: "The backend's clock counts, and `forMs` is the remaining time by that clock.",
  cases: [
    lawCase("A caller that finds the lock held gets the remaining time", async (locks, lab) => {
      await acquired(locks, "invoices", "first", LONG_MS)
      const before = await assertHeld(locks, "invoices")

      await lab.pass(SHORT_MS)

      const after = await assertHeld(await lab.openPeer(), "invoices")
      assert.ok(before > LONG_MS / 2 && before <= LONG_MS, `${before} ms remain of ${LONG_MS}`)
      assert.ok(after <= before - SHORT_MS + ROUNDING_MS && after > 0, `then ${after} ms`)
    }),
    lawCase("A caller that waits for the remaining time finds the lock free", async (locks, lab) => {
      const { name, forMs } = await foundHeld(locks)

      await lab.pass(forMs + ROUNDING_MS)

      await acquired(locks, name, "second")
    }),
    lawCase("An extension counts in the remaining time", async (locks, lab) => {
      await acquired(locks, "invoices", "first", LONG_MS)

      await locks.extend("invoices", "first", 2 * LONG_MS)

      const forMs = await assertHeld(await lab.openPeer(), "invoices")
      assert.ok(forMs > LONG_MS && forMs <= 2 * LONG_MS, `${forMs} ms remain of ${2 * LONG_MS}`)
    }),
  ],
}

/** One instant may be truncated and another rounded to the millisecond. */
const ROUNDING_MS = 2

export const CLEAR: LockLaw = {
  number: 8,
  name: "Clear",
  statement: "An invalid name, token or time is refused before anything happens.",
  cases: [
    lawCase("An invalid time is refused", async (locks) => {
      for (const ttlMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await refuses("BELFRY_LOCK_INVALID", () => locks.acquire("invoices", "first", ttlMs))
      }
      await acquired(locks, "invoices", "first")
      await refuses("BELFRY_LOCK_INVALID", () => locks.extend("invoices", "first", 0))
      await assertHeld(locks, "invoices")
    }),
    lawCase("An invalid name is refused", async (locks) => {
      for (const name of ["", "n".repeat(256), "a\0b", "\ud83d"]) {
        await refuses("BELFRY_LOCK_INVALID", () => locks.acquire(name, "first", LONG_MS))
        await refuses("BELFRY_LOCK_INVALID", () => locks.extend(name, "first", LONG_MS))
        await refuses("BELFRY_LOCK_INVALID", () => locks.release(name, "first"))
      }
    }),
    lawCase("An invalid token is refused", async (locks) => {
      for (const token of ["", "t".repeat(256), "a\0b"]) {
        await refuses("BELFRY_LOCK_INVALID", () => locks.acquire("invoices", token, LONG_MS))
      }
      await acquired(locks, "invoices", "first")
    }),
  ],
}

export const OPEN: LockLaw = {
  number: 9,
  name: "Open",
  statement:
    "Opening twice is the same as once. After `close` every call throws. No call takes longer than 5 s.",
  cases: [
    lawCase("Opening again changes nothing", async (locks) => {
      await acquired(locks, "invoices", "first")

      await Promise.all([locks.open(), locks.open()])

      await assertHeld(locks, "invoices")
    }),
    lawCase("Closing releases no locks, and may be repeated", async (locks, lab) => {
      const peer = await lab.openPeer()
      await acquired(locks, "invoices", "first")

      await locks.close()
      await locks.close()

      await assertHeld(peer, "invoices")
    }),
    lawCase("After closing, every call throws", async (locks) => {
      await locks.close()

      await refuses("BELFRY_STORE_CLOSED", () => locks.open())
      await refuses("BELFRY_STORE_CLOSED", () => locks.acquire("invoices", "first", SHORT_MS))
      await refuses("BELFRY_STORE_CLOSED", () => locks.extend("invoices", "first", SHORT_MS))
      await refuses("BELFRY_STORE_CLOSED", () => locks.release("invoices", "first"))
    }),
  ],
}

async function refuses(code: ErrorCode, call: () => Promise<unknown>): Promise<void> {
  await assert.rejects(call, (error) => error instanceof BelfryError && error.code === code)
}
