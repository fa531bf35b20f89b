import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { LOCK_LAWS, proveLockLaws } from "../../src/lock.ts"
import { BROKEN_LOCKS } from "./broken-locks.ts"
import { memoryLab } from "./lab.ts"

/** Tests the laws themselves: if one of these backends passed, the laws would prove nothing. */

const failedBy = new Map<string, readonly string[]>()

describe("The laws reject a backend in which", () => {
  for (const { law: number, bug, make } of BROKEN_LOCKS) {
    test(`${bug} (law ${number})`, async () => {
      const laws = LOCK_LAWS.filter((law) => law.number === number)

      const broken = await proveLockLaws(memoryLab(make), laws)

      failedBy.set(
        bug,
        broken.map(({ title }) => title),
      )
      assert.notDeepEqual(broken, [], `Not rejected: the backend in which ${bug}.`)
    })
  }

  test.each(LOCK_LAWS)(
    "law $number, $name, is broken: each of its cases finds a bug",
    ({ number, cases }) => {
      const bugs = BROKEN_LOCKS.filter(({ law }) => law === number)

      const found = new Set(bugs.flatMap(({ bug }) => failedBy.get(bug) ?? []))

      assert.deepEqual(
        cases.map(({ title }) => title).filter((title) => !found.has(title)),
        [],
      )
    },
  )
})

test("the laws accept a correct backend", async () => {
  assert.deepEqual(await proveLockLaws(memoryLab()), [])
})
