import { proveShares } from "../shares.ts"
import { aPath, aStore } from "./scratch.ts"

proveShares(async (count) => {
  const path = aPath()
  const stores = Array.from({ length: count }, () => aStore(path))
  for (const store of stores) await store.open()
  return stores
})
