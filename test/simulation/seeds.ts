import { expect, test } from "vitest"
import { simulate } from "./world.ts"

/** `BELFRY_SEED=17` replays one day; `BELFRY_SEEDS=2000` simulates more of them. */
const ONLY = Number(process.env["BELFRY_SEED"] ?? 0)
const COUNT = Number(process.env["BELFRY_SEEDS"] ?? 300)

/** Situations that a simulation must get into, or it has shown nothing about them: in at least one seed of a hundred. */
const SITUATIONS = [
  "zombie refused",
  "taken over",
  "given up as lost",
  "killed while performing",
  "killed while idle",
  "process stopped",
  "deployed",
  "released",
  "race lost",
  "fired ahead",
  "edit raced",
  "edited",
  "caught up",
  "skipped: coalesced",
  "skipped: missed",
  "skipped: overlap",
  "skipped: capacity",
  "skipped: dependency",
  "skipped: paused",
  "skipped: operator",
  "cancelled while running",
  "cancelled while pending",
  "store down",
  "store unreachable for one",
  "store clock back",
  "store clock forward",
  "reply lost: claim",
  "reply lost: fire",
  "reply lost: transition",
  "reply lost: heartbeat",
  "operator: reschedule",
  "operator: move",
  "operator: backfill",
  "operator: retry",
]

/** Simulates every `of`-th seed from `first` on: test files run side by side, one shard each. */
export function simulateShard(first: number, of: number): void {
  const seeds =
    ONLY > 0 ? [ONLY] : Array.from({ length: Math.floor(COUNT / of) }, (_, index) => first + index * of)

  test(`${seeds.length} days of a team's processes keep every invariant (seeds ${first}, ${first + of}, …)`, async () => {
    const seen = new Map<string, number>()
    for (const seed of seeds) {
      const { violations, situations } = await simulate(seed)
      expect(violations, `BELFRY_SEED=${seed} npx vitest run --project slow test/simulation`).toEqual([])
      for (const situation of situations.keys()) seen.set(situation, (seen.get(situation) ?? 0) + 1)
    }

    if (ONLY > 0) return
    const rare = SITUATIONS.filter(
      (situation) => (seen.get(situation) ?? 0) < Math.max(1, seeds.length / 100),
    )
    expect(rare, "situations that the seeds hardly ever get into").toEqual([])
  })
}
