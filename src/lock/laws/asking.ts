import assert from "node:assert/strict"
import { BelfryError, type ErrorCode } from "../../core/errors.ts"
import { acquired, assertHeld, foundHeld, LONG_MS, type LockLaw, lawCase, SHORT_MS } from "./law.ts"

/** Each a lock of its own. The two last but one look the same, and are written differently. */
const NAMES = [
  ...["invoices", "Invoices", "invoices ", " invoices", "invoices\n", "invoices%20", "invoices:1"],
  ...["{invoices}", "*", "'; drop table locks; --", "\\", "ß", "ss", "é", "e\u0301", "🔔"],
]

export const EXACT: LockLaw = {
  number: 6,
  name: "Exact",
  statement: "Names compare exactly: case, accents, spaces.",
  cases: [
    lawCase("Names that differ in anything are different locks", async (locks) => {
      for (const [index, name] of NAMES.entries()) await acquired(locks, name, `t${index}`)

      for (const [index, name] of NAMES.entries()) {
        assert.equal(await locks.release(name, `t${index}`), true, JSON.stringify(name))
      }
    }),
    lawCase("A name of 255 wide characters is a name, to its last one", async (locks) => {
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
  statement: "Time is the backend's, and `forMs` is what is left by it.",
  cases: [
    lawCase("One who comes while it is held hears how long it is held still", async (locks, lab) => {
      await acquired(locks, "invoices", "first", LONG_MS)
      const before = await assertHeld(locks, "invoices")

      await lab.pass(SHORT_MS)

      const after = await assertHeld(await lab.openPeer(), "invoices")
      assert.ok(before > LONG_MS / 2 && before <= LONG_MS, `${before} ms are left of ${LONG_MS}`)
      assert.ok(after <= before - SHORT_MS + ROUNDING_MS && after > 0, `then ${after} ms`)
    }),
    lawCase("Who waits for as long as it was told finds it free", async (locks, lab) => {
      const { name, forMs } = await foundHeld(locks)

      await lab.pass(forMs + ROUNDING_MS)

      await acquired(locks, name, "second")
    }),
    lawCase("An extension is told to those who come after it", async (locks, lab) => {
      await acquired(locks, "invoices", "first", LONG_MS)

      await locks.extend("invoices", "first", 2 * LONG_MS)

      const forMs = await assertHeld(await lab.openPeer(), "invoices")
      assert.ok(forMs > LONG_MS && forMs <= 2 * LONG_MS, `${forMs} ms are left of ${2 * LONG_MS}`)
    }),
  ],
}

/** One instant may be cut and another rounded to its millisecond. */
const ROUNDING_MS = 2

export const CLEAR: LockLaw = {
  number: 8,
  name: "Clear",
  statement: "What can't be a name, a token or a time is refused before anything happens.",
  cases: [
    lawCase("A time that is no time is refused", async (locks) => {
      for (const ttlMs of [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        await refuses("BELFRY_LOCK_INVALID", () => locks.acquire("invoices", "first", ttlMs))
      }
      await acquired(locks, "invoices", "first")
      await refuses("BELFRY_LOCK_INVALID", () => locks.extend("invoices", "first", 0))
      await assertHeld(locks, "invoices")
    }),
    lawCase("A name that is no name is refused", async (locks) => {
      for (const name of ["", "n".repeat(256), "a\0b", "\ud83d"]) {
        await refuses("BELFRY_LOCK_INVALID", () => locks.acquire(name, "first", LONG_MS))
        await refuses("BELFRY_LOCK_INVALID", () => locks.extend(name, "first", LONG_MS))
        await refuses("BELFRY_LOCK_INVALID", () => locks.release(name, "first"))
      }
    }),
    lawCase("A token that is none is refused", async (locks) => {
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
    "Opening twice is opening once; after `close`, every call is a fault. No call takes longer than 5 s.",
  cases: [
    lawCase("Opening again changes nothing", async (locks) => {
      await acquired(locks, "invoices", "first")

      await Promise.all([locks.open(), locks.open()])

      await assertHeld(locks, "invoices")
    }),
    lawCase("Closing releases nothing, and may be done twice", async (locks, lab) => {
      const peer = await lab.openPeer()
      await acquired(locks, "invoices", "first")

      await locks.close()
      await locks.close()

      await assertHeld(peer, "invoices")
    }),
    lawCase("After closing, every call is a fault", async (locks) => {
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
