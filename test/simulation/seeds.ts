import { expect, test } from "vitest"
import { SITUATIONS } from "./situations.ts"
import { simulate } from "./world.ts"

/** `BELFRY_SEED=17` replays one day. `BELFRY_SEEDS=2000` simulates more days. */
const ONLY = Number(process.env["BELFRY_SEED"] ?? 0)
const COUNT = Number(process.env["BELFRY_SEEDS"] ?? 600)

/** Simulates every `of`-th seed from `first` on. Test files run in parallel, one shard each. */
export function simulateShard(first: number, of: number): void {
  const seeds =
    ONLY > 0 ? [ONLY] : Array.from({ length: Math.floor(COUNT / of) }, (_, index) => first + index * of)

  test(`the invariants hold on ${seeds.length} simulated days (seeds ${first}, ${first + of}, …)`, async () => {
    const seen = new Map<string, number>()
    for (const seed of seeds) {
      for (const situation of await keepsInvariants(seed)) seen.set(situation, (seen.get(situation) ?? 0) + 1)
    }

    if (ONLY > 0) return
    const rare = SITUATIONS.filter(
      (situation) => (seen.get(situation) ?? 0) < Math.max(1, seeds.length / 100),
    )
    expect(rare, "situations that occur on less than 1% of the days").toEqual([])
  })
}

/** Simulates one day and returns the situations that occurred. */
export async function keepsInvariants(seed: number): Promise<readonly string[]> {
  const { violations, situations } = await simulate(seed)
  const replay = `BELFRY_SEED=${seed} npx vitest run --project long test/simulation/seeds-1`
  expect(violations, replay).toEqual([])
  return [...situations.keys()]
}
