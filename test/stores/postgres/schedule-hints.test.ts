import type { Hint } from "belfry/store"
import { migratedDatabase } from "../../support/fresh-database.ts"
import { proveScheduleHints } from "../schedule-hints.ts"
import { anOpenStore, until } from "./scratch.ts"

proveScheduleHints(async () => {
  const url = await migratedDatabase()
  const listener = await anOpenStore(url)
  const heard: Hint[] = []
  await listener.listen((hint) => void heard.push(hint))
  // A connection that is new hints at everything.
  await until(() => heard.length >= 3)
  heard.length = 0
  return {
    writer: await anOpenStore(url),
    async hears() {
      await until(() => heard.length > 0)
      return heard.splice(0)
    },
  }
})
