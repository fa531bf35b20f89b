import type { Hint } from "belfry/store"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { proveScheduleHints } from "../schedule-hints.ts"
import { anOpenStore, until } from "./scratch.ts"

proveScheduleHints(async () => {
  const url = await migratedDatabase()
  const listener = await anOpenStore(url)
  const received: Hint[] = []
  await listener.listen((hint) => void received.push(hint))
  // After a connect the listener gets every hint.
  await until(() => received.length >= 3)
  received.length = 0
  return {
    writer: await anOpenStore(url),
    async receivedHints() {
      await until(() => received.length > 0)
      return received.splice(0)
    },
  }
})
