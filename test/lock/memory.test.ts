import { describe, test } from "vitest"
import { LOCK_LAWS } from "../../src/lock.ts"
import { memoryLab } from "./lab.ts"

for (const { number, name, cases } of LOCK_LAWS) {
  describe(`Law ${number}, ${name}, of locks in memory`, () => {
    for (const { title, prove } of cases) test(title, () => prove(memoryLab()))
  })
}
