import assert from "node:assert/strict"
import { LAWS, proveLaws } from "belfry/store"
import { describe, test } from "vitest"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { BROKEN_BY_PROCESS_LOCKS } from "./broken/process-locks.ts"
import { BROKEN_STORES } from "./broken-stores.ts"
import { labOf } from "./manual-lab.ts"

/** By broken store: the failed cases of the law that it breaks. */
const failedBy = new Map<string, readonly string[]>()

describe("The suite rejects a store in which", () => {
  for (const { law: number, bug, create, connect } of BROKEN_STORES) {
    test(`${bug} (law ${number})`, async () => {
      const broken = await proveLaws(labOf(create, connect), [lawOf(number)])

      failedBy.set(
        bug,
        broken.map(({ title }) => title),
      )
      assert.notDeepEqual(
        broken,
        [],
        `Not rejected: the store in which ${bug}. No case of law ${number} fails.`,
      )
    })
  }

  test.each(LAWS)("law $number, $name, is broken: every case of it finds a bug", ({ number, cases }) => {
    const breaking = BROKEN_STORES.filter((store) => store.law === number)

    // A store that fails more than half of the cases doesn't show that a single case is needed.
    const specific = breaking
      .map(({ bug }) => failedBy.get(bug) ?? [])
      .filter((titles) => titles.length <= cases.length / 2)
    const found = new Set(specific.flat())
    assert.deepEqual(
      cases.map(({ title }) => title).filter((title) => !found.has(title)),
      [],
    )
  })
})

describe("A lock inside the process doesn't save a store in which", () => {
  for (const { law: number, bug, create, connect } of BROKEN_BY_PROCESS_LOCKS) {
    test(`${bug} (law ${number})`, async () => {
      const alone = await proveLaws(labOf(create), [lawOf(number)])
      const apart = await proveLaws(labOf(create, connect), [lawOf(number)])

      assert.deepEqual(alone, [], `With one connection the store in which ${bug} keeps law ${number}.`)
      assert.notDeepEqual(apart, [], `Not rejected with peers: the store in which ${bug}.`)
    })
  }
})

function lawOf(number: number) {
  return LAWS.find((law) => law.number === number)!
}

test("a store that never sends hints passes", async () => {
  const silent = labOf((clock) => {
    const store = createMemoryStore(clock)
    const listen = async () => {
      await store.now()
      return async () => undefined
    }
    return { ...store, listen }
  })

  assert.deepEqual(await proveLaws(silent), [])
})
