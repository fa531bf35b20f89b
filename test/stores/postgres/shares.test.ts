import { migratedDatabase } from "../../support/fresh-database.ts"
import { proveShares } from "../shares.ts"
import { anOpenStore } from "./scratch.ts"

proveShares(async (count) => {
  const url = await migratedDatabase()
  return Promise.all(Array.from({ length: count }, () => anOpenStore(url)))
})
