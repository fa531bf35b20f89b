import assert from "node:assert/strict"
import { expect, test } from "vitest"
import { memory } from "../stores/memory/memory.ts"
import { assertedStore } from "./asserted-store.ts"
import { aClaim, aRun, aSchedule } from "./laws/factories.ts"
import type { Claimed, Store } from "./store.ts"

test("the answers of a correct store pass unchanged", async () => {
  const store = assertedStore(memory())
  await store.open()
  await store.enqueue([aRun({ id: "r1" })])
  await store.putSchedule(aSchedule({ nextRunAt: 1 }), null)

  const { runs } = await store.claim(aClaim())
  const { due } = await store.dueSchedules({ limit: 1 })

  assert.deepEqual([runs.map(({ id }) => id), due.length], [["r1"], 1])
  await store.close()
})

test.each([
  ["a claim answers a run of another task", { claim: changed((run) => ({ ...run, task: "other" })) }],
  ["a claim answers a run of another worker", { claim: changed((run) => ({ ...run, workerId: "other" })) }],
  ["a claim answers a pending run", { claim: changed((run) => ({ ...run, state: "pending" })) }],
  ["a claim answers a run twice", { claim: claims(({ runs }) => ({ runs: [...runs, ...runs] })) }],
  ["a claim's clock is not a number", { claim: claims(() => ({ now: Number.NaN })) }],
])("it is an error if %s", async (_, broken) => {
  const store = memory()
  await store.open()
  await store.enqueue([aRun({ id: "r1" })])

  const asserted = assertedStore(broken.claim(store))

  await expect(asserted.claim(aClaim())).rejects.toThrow(/invariant broken/)
  await store.close()
})

test.each(["fire", "enqueue", "transition"] as const)(
  "it is an error if %s answers fewer elements than it was given",
  async (operation) => {
    const store = assertedStore({ ...memory(), [operation]: async () => [] })

    await expect(store[operation]([aRun()] as never)).rejects.toThrow(`${operation} answers each element`)
  },
)

test("it is an error if the store's clock is not a number", async () => {
  const store = assertedStore({ ...memory(), now: async () => Number.NaN })

  await expect(store.now()).rejects.toThrow(/whole number of milliseconds/)
})

test("it is an error if more schedules are due than were asked for", async () => {
  const store = memory()
  await store.open()
  for (const id of ["a", "b"]) await store.putSchedule(aSchedule({ id, nextRunAt: 1 }), null)

  const asserted = assertedStore({ ...store, dueSchedules: () => store.dueSchedules({ limit: 2 }) })

  await expect(asserted.dueSchedules({ limit: 1 })).rejects.toThrow(/at most its limit/)
  await store.close()
})

function claims(change: (claimed: Claimed) => Partial<Claimed>): (store: Store) => Store {
  return (store) => ({
    ...store,
    claim: async (request) => {
      const claimed = await store.claim(request)
      return { ...claimed, ...change(claimed) }
    },
  })
}

function changed(change: (run: Claimed["runs"][number]) => object): (store: Store) => Store {
  return claims(({ runs }) => ({ runs: runs.map(change) as Claimed["runs"] }))
}
