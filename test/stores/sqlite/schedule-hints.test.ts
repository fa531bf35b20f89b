import type { Hint } from "belfry/store"
import { advance, aVirtualClock } from "../../lock/lab.ts"
import { proveScheduleHints } from "../schedule-hints.ts"
import { anOpenStore, aPath } from "./scratch.ts"

proveScheduleHints(async () => {
  const path = aPath()
  const clock = aVirtualClock()
  const listener = await anOpenStore(path, { clock })
  const heard: Hint[] = []
  await listener.listen((hint) => void heard.push(hint))
  return {
    writer: await anOpenStore(path),
    async receivedHints() {
      await advance(clock, 100)
      return heard.splice(0)
    },
  }
})
