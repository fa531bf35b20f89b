import { LAWS } from "belfry/store"
import { describe, test } from "vitest"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { labOf } from "./manual-lab.ts"

for (const { number, name, cases } of LAWS) {
  describe(`Law ${number}, ${name}, of the memory store`, () => {
    for (const { title, prove } of cases) {
      test(title, () => prove(labOf(createMemoryStore)))
    }
  })
}
