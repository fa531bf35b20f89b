/**
 * Finds seeds for the fast suite, after a change that alters the course of the simulation. `npx tsx
 * scripts/simulation-seeds.ts days` finds short simulated days that together reach every situation; `… bugs M19 M24` finds
 * seeds that detect these planted bugs.
 */
import { PLANTED_BUGS } from "../test/simulation/planted-bugs.ts"
import { SITUATIONS } from "../test/simulation/situations.ts"
import { simulate } from "../test/simulation/world.ts"

const SEEDS = 100

const [mode, ...names] = process.argv.slice(2)
if (mode === "days") await findDays()
else await findBugs(names)

async function findDays(): Promise<void> {
  const days: { seed: number; tookMs: number; situations: ReadonlySet<string> }[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const startedAt = performance.now()
    const { situations } = await simulate(seed)
    days.push({ seed, tookMs: performance.now() - startedAt, situations: new Set(situations.keys()) })
  }
  const missing = new Set<string>(SITUATIONS)
  const chosen: typeof days = []
  while (missing.size > 0) {
    const newSituations = ({ situations }: (typeof days)[number]) =>
      [...situations].filter((each) => missing.has(each)).length
    const best = days.toSorted((a, b) => newSituations(b) / b.tookMs - newSituations(a) / a.tookMs)[0]!
    if (newSituations(best) === 0) break
    chosen.push(best)
    for (const situation of best.situations) missing.delete(situation)
  }
  const tookMs = chosen.reduce((sum, day) => sum + day.tookMs, 0)
  console.log(
    `DAYS = [${chosen
      .map(({ seed }) => seed)
      .sort((a, b) => a - b)
      .join(", ")}], ${Math.round(tookMs)} ms`,
  )
  if (missing.size > 0) console.log("Never reached:", [...missing])
}

async function findBugs(names: readonly string[]): Promise<void> {
  for (const [bug, planted] of Object.entries(PLANTED_BUGS)) {
    const name = bug.slice(0, bug.indexOf(" "))
    if (!names.includes(name)) continue
    const detected: string[] = []
    for (let seed = 1; seed <= SEEDS && detected.length < 2; seed++) {
      const startedAt = performance.now()
      const { violations } = await simulate(seed, planted)
      if (violations.length > 0) detected.push(`${seed} (${Math.round(performance.now() - startedAt)} ms)`)
    }
    console.log(name, detected.join(", "))
  }
}
