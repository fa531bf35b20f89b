import { PATIENCE_MS } from "../../support/patience.ts"

/** For `vi.mock`: raises the deadlines of `postgres()`, so that no call of a test reaches them. */

type Stores = typeof import("../../../src/stores/postgres/postgres-store.ts")
type Pools = typeof import("../../../src/stores/postgres/own-pool.ts")

export function withPatientStores(stores: Stores): Stores {
  return {
    ...stores,
    createPostgresStore: (makePool, options, waiting) =>
      stores.createPostgresStore(makePool, { ...options, deadlineMs: PATIENCE_MS }, waiting),
  }
}

export function withPatientPools(pools: Pools): Pools {
  return { ...pools, poolFor: (url, connections) => pools.poolFor(url, connections, PATIENCE_MS) }
}
