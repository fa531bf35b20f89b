import assert from "node:assert/strict"
import type { LockBackend } from "../backend.ts"
import { acquired, assertHeld, LONG_MS, type LockLaw, lawCase, SHORT_MS, together, withPeers } from "./law.ts"

export const RISING: LockLaw = {
  number: 4,
  name: "Rising",
  statement:
    "Each new holder of a name gets a higher fence than every holder before it, while the database exists.",
  cases: [
    lawCase("The fence rises with each new holder, and is a whole number", async (locks) => {
      const fences: number[] = []
      for (const token of ["a", "b", "a", "c"]) {
        fences.push(await acquired(locks, "invoices", token))
        await locks.release("invoices", token)
      }

      assertRising(fences)
    }),
    lawCase(
      "The fence rises when a hold has ended by itself, also if its holder acquires again",
      async (locks, lab) => {
        const first = await acquired(locks, "invoices", "first", SHORT_MS)
        await lab.pass(2 * SHORT_MS)
        const again = await acquired(locks, "invoices", "first", SHORT_MS)
        await lab.pass(2 * SHORT_MS)

        assertRising([first, again, await acquired(locks, "invoices", "second")])
      },
    ),
    lawCase("The fence rises across backends that are closed and opened again", async (locks, lab) => {
      const first = await acquired(locks, "invoices", "first")
      await locks.release("invoices", "first")
      const peer = await lab.openPeer()
      await locks.close()

      const second = await acquired(peer, "invoices", "second")
      await peer.release("invoices", "second")

      assertRising([first, second, await acquired(await lab.openPeer(), "invoices", "third")])
    }),
    lawCase("Fences are in the order of the holds when several callers compete", async (locks, lab) => {
      const peers = await withPeers(locks, lab)
      const fences: number[] = []

      await together(peers, 8, async (peer, index) => {
        for (let round = 0; round < 10; round++) await takeTurn(peer, `t${index}-${round}`, fences)
      })

      // A caller that finds the lock held loses its turn to the holder. A caller that never loses one takes all ten.
      assert.ok(fences.length >= 2, `${fences.length} turns were taken`)
      assertRising(fences)
    }),
  ],
}

/** Only the holder adds its fence to the list, so the list is in the order of the holds. */
async function takeTurn(locks: LockBackend, token: string, fences: number[]): Promise<void> {
  const answer = await locks.acquire("invoices", token, LONG_MS)
  if (answer.outcome === "held") return
  fences.push(answer.fence)
  assert.equal(await locks.release("invoices", token), true)
}

function assertRising(fences: readonly number[]): void {
  for (const [index, fence] of fences.entries()) {
    assert.ok(Number.isSafeInteger(fence) && fence > 0, `${fence} is a whole number above 0`)
    assert.ok(index === 0 || fence > fences[index - 1]!, `fences rise: ${fences}`)
  }
}

export const REPEATABLE: LockLaw = {
  number: 5,
  name: "Repeatable",
  statement: "Acquiring again with the same token is the same hold, so a lost answer does no harm.",
  cases: [
    lawCase("A holder that acquires again gets the same fence", async (locks, lab) => {
      const fence = await acquired(locks, "invoices", "first")

      assert.equal(await acquired(await lab.openPeer(), "invoices", "first"), fence)
      await assertHeld(locks, "invoices")
    }),
    lawCase("A holder that acquires again gets its whole time again", async (locks, lab) => {
      await acquired(locks, "invoices", "first", SHORT_MS)

      await acquired(locks, "invoices", "first", LONG_MS)
      await lab.pass(2 * SHORT_MS)

      await assertHeld(locks, "invoices")
    }),
    lawCase("A holder that acquired twice releases once", async (locks) => {
      await acquired(locks, "invoices", "first")
      await acquired(locks, "invoices", "first")

      assert.equal(await locks.release("invoices", "first"), true)

      await acquired(locks, "invoices", "second")
    }),
    lawCase("Twenty requests with the same token at once are one hold with one fence", async (locks, lab) => {
      const peers = await withPeers(locks, lab)

      const fences = await together(peers, 20, (peer) => acquired(peer, "invoices", "first"))

      assert.equal(new Set(fences).size, 1)
    }),
  ],
}
