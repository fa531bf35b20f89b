/**
 * Finds short days for the quick suite, after a change has given the seeds another course: `npx tsx scripts/simulation-seeds.ts days`
 * for those that get into every situation between them, `… bugs M19 M24` for seeds that notice these planted bugs.
 */
import { PLANTED_BUGS } from "../test/simulation/planted-bugs.ts"
import { SITUATIONS } from "../test/simulation/situations.ts"
import { simulate } from "../test/simulation/world.ts"

const SEEDS = 100

const [what, ...names] = process.argv.slice(2)
if (what === "days") await findDays()
else await findBugs(names)

async function findDays(): Promise<void> {
  const days: { seed: number; tookMs: number; situations: ReadonlySet<string> }[] = []
  for (let seed = 1; seed <= SEEDS; seed++) {
    const began = performance.now()
    const { situations } = await simulate(seed)
    days.push({ seed, tookMs: performance.now() - began, situations: new Set(situations.keys()) })
  }
  const missing = new Set<string>(SITUATIONS)
  const chosen: typeof days = []
  while (missing.size > 0) {
    const news = ({ situations }: (typeof days)[number]) =>
      [...situations].filter((each) => missing.has(each)).length
    const best = days.toSorted((a, b) => news(b) / b.tookMs - news(a) / a.tookMs)[0]!
    if (news(best) === 0) break
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
  if (missing.size > 0) console.log("Never got into:", [...missing])
}

async function findBugs(names: readonly string[]): Promise<void> {
  for (const [bug, planted] of Object.entries(PLANTED_BUGS)) {
    const name = bug.slice(0, bug.indexOf(" "))
    if (!names.includes(name)) continue
    const noticed: string[] = []
    for (let seed = 1; seed <= SEEDS && noticed.length < 2; seed++) {
      const began = performance.now()
      const { violations } = await simulate(seed, planted)
      if (violations.length > 0) noticed.push(`${seed} (${Math.round(performance.now() - began)} ms)`)
    }
    console.log(name, noticed.join(", "))
  }
}
