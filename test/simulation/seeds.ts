import { expect, test } from "vitest"
import { SITUATIONS } from "./situations.ts"
import { simulate } from "./world.ts"

/** `BELFRY_SEED=17` replays one day; `BELFRY_SEEDS=2000` simulates more of them. */
const ONLY = Number(process.env["BELFRY_SEED"] ?? 0)
const COUNT = Number(process.env["BELFRY_SEEDS"] ?? 600)

/** Simulates every `of`-th seed from `first` on: test files run side by side, one shard each. */
export function simulateShard(first: number, of: number): void {
  const seeds =
    ONLY > 0 ? [ONLY] : Array.from({ length: Math.floor(COUNT / of) }, (_, index) => first + index * of)

  test(`${seeds.length} days of a team's processes keep every invariant (seeds ${first}, ${first + of}, …)`, async () => {
    const seen = new Map<string, number>()
    for (const seed of seeds) {
      for (const situation of await keepsInvariants(seed)) seen.set(situation, (seen.get(situation) ?? 0) + 1)
    }

    if (ONLY > 0) return
    const rare = SITUATIONS.filter(
      (situation) => (seen.get(situation) ?? 0) < Math.max(1, seeds.length / 100),
    )
    expect(rare, "situations that the seeds hardly ever get into").toEqual([])
  })
}

/** Simulates one day; returns the situations it got into. */
export async function keepsInvariants(seed: number): Promise<readonly string[]> {
  const { violations, situations } = await simulate(seed)
  const replay = `BELFRY_SEED=${seed} npx vitest run --project long test/simulation/seeds-1`
  expect(violations, replay).toEqual([])
  return [...situations.keys()]
}
