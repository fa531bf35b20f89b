import assert from "node:assert/strict"
import { LAWS, proveLaws } from "belfry/store"
import { describe, test } from "vitest"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { BROKEN_STORES } from "./broken-stores.ts"
import { labOf } from "./manual-lab.ts"

/** Which cases each broken store failed, of the law that it breaks. */
const failedBy = new Map<string, readonly string[]>()

describe("The suite rejects a store in which", () => {
  for (const { law: number, bug, create } of BROKEN_STORES) {
    test(`${bug} (law ${number})`, async () => {
      const law = LAWS.find((each) => each.number === number)!

      const broken = await proveLaws(labOf(create), [law])

      failedBy.set(
        bug,
        broken.map(({ title }) => title),
      )
      assert.notDeepEqual(broken, [], `no case of law ${number} fails`)
    })
  }

  test.each(LAWS)("law $number, $name, is broken: every case of it finds a bug", ({ number, cases }) => {
    const breaking = BROKEN_STORES.filter((store) => store.law === number)

    // A store that fails nearly everything shows nothing about one case.
    const telling = breaking
      .map(({ bug }) => failedBy.get(bug) ?? [])
      .filter((titles) => titles.length <= cases.length / 2)
    const found = new Set(telling.flat())
    assert.deepEqual(
      cases.map(({ title }) => title).filter((title) => !found.has(title)),
      [],
    )
  })
})

test("a store that never hints passes", async () => {
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
