import { comparePeers } from "./differential.ts"

/**
 * A case depends only on its seed. Other cases: `BELFRY_SEED=500000 npx vitest run --project fast test/cron/differential`;
 * one case: `BELFRY_SEED=1234 BELFRY_CASES=1 …`. `differential.long.test.ts` runs more cases.
 */
comparePeers({
  first: Number(process.env["BELFRY_SEED"] ?? 1),
  count: Number(process.env["BELFRY_CASES"] ?? 800),
})
