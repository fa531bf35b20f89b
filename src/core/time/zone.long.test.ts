import { assert, test } from "vitest"
import { leastCpuMs } from "../../../test/support/cpu-time.ts"
import { thrownBy } from "../../../test/support/records.ts"
import { zoneNamed } from "./zone.ts"

test.each(["a", "a/", "/"])(
  "a name of 10,000,000 characters, all %j, is refused within 20 ms of CPU time",
  (text) => {
    const name = Buffer.alloc(10_000_000, text).toString()

    assert.isBelow(
      leastCpuMs(() => thrownBy(() => zoneNamed(name))),
      20,
    )
  },
)
