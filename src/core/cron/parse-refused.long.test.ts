import { assert, test } from "vitest"
import { leastCpuMs } from "../../../test/support/cpu-time.ts"
import { HOSTILE, messageOf } from "../../../test/support/hostile-expressions.ts"

for (const [title, expression] of HOSTILE) {
  test(`the parser answers within 20 ms of CPU time: ${title}`, () => {
    assert.isBelow(
      leastCpuMs(() => messageOf(expression)),
      20,
    )
  })
}
