import { BelfryError, next, parse } from "belfry/cron"
import { CronExpressionParser } from "cron-parser"
import { Cron } from "croner"
import { CronosExpression } from "cronosjs"
import { assert, test } from "vitest"
import { type Case, caseOf, isDueAt, momentAt, type WallMoment } from "./differential-case.ts"

/**
 * Compares the cases of these seeds with croner, cron-parser and cronosjs. Where a peer differs, a naive computation of our rule
 * from `Intl` must agree with us, and the difference must be listed in EXPLANATIONS.
 */
export function comparePeers({ first, count }: { first: number; count: number }): void {
  for (const peer of Object.keys(PEERS) as Peer[]) {
    test(`${peer} differs from belfry only in the known ways (seeds ${first} to ${first + count - 1})`, () => {
      const counts: Record<string, number> = { agrees: 0 }
      const unexplained: string[] = []
      for (let seed = first; seed < first + count; seed++) {
        const names = namesOfDifferences(caseOf(seed), peer)
        for (const name of names) {
          counts[name] = (counts[name] ?? 0) + 1
          if (name.startsWith("unexplained")) unexplained.push(name)
        }
        if (names.size === 0) counts["agrees"]!++
      }

      console.info(peer, counts)
      assert.deepEqual(unexplained.slice(0, 10), [])
    })
  }
}

/** The number of occurrences compared in each case. */
const DEPTH = 5

type Peer = "croner" | "cron-parser" | "cronosjs"

const PEERS: Readonly<Record<Peer, (about: Case) => number[]>> = {
  croner: ({ expression, timezone, after }) =>
    new Cron(expression, { timezone, paused: true })
      .nextRuns(DEPTH, new Date(after))
      .map((date) => date.getTime()),
  "cron-parser": ({ expression, timezone, after }) => {
    const cron = CronExpressionParser.parse(expression, { tz: timezone, currentDate: new Date(after) })
    return Array.from({ length: DEPTH }, () => cron.next().getTime())
  },
  cronosjs: ({ expression, timezone, after }) =>
    CronosExpression.parse(expression, { timezone })
      .nextNDates(new Date(after), DEPTH)
      .map((date) => date.getTime()),
}

/** An instant at which only the peer or only belfry fires. */
interface Difference {
  readonly peer: Peer
  /** `extra`: only the peer fires. `missing`: only belfry fires. */
  readonly kind: "extra" | "missing"
  readonly at: number
  readonly about: Case
  readonly moment: WallMoment
}

interface Explanation {
  readonly name: string
  readonly peers: readonly Peer[]
  readonly matches: (difference: Difference) => boolean
}

/** Every known way in which the peers differ. The first explanation that matches is used. */
const EXPLANATIONS: readonly Explanation[] = [
  {
    name: "gap: a fixed time in the gap isn't run right after it",
    peers: ["croner", "cron-parser", "cronosjs"],
    matches: ({ kind, about, moment }) =>
      kind === "missing" && about.isFixedTime && moment.gapBefore > 0 && !about.matches(moment.wall),
  },
  {
    name: "gap: a wildcard job is run right after it for a time in the gap",
    peers: ["cronosjs"],
    matches: ({ kind, about, moment }) => kind === "extra" && !about.isFixedTime && moment.gapBefore > 0,
  },
  {
    name: "overlap: a fixed time is run again when it is shown again",
    peers: ["croner", "cron-parser", "cronosjs"],
    matches: ({ kind, about, moment }) => kind === "extra" && about.isFixedTime && moment.wasShown,
  },
  {
    name: "overlap: a wildcard job isn't run in one of the two hours",
    peers: ["croner", "cron-parser", "cronosjs"],
    matches: ({ kind, about, moment }) =>
      kind === "missing" && !about.isFixedTime && (moment.wasShown || moment.isShownAgain),
  },
  {
    name: "near a change: run where the wall clock matches only by the offset of the other side",
    peers: ["cron-parser", "cronosjs", "croner"],
    matches: ({ kind, about, moment }) =>
      kind === "extra" && !about.matches(moment.wall) && moment.wallsByOtherOffset.some(about.matches),
  },
  {
    name: "near a change: not run although the wall clock matches",
    peers: ["cron-parser", "cronosjs", "croner"],
    matches: ({ kind, about, moment }) =>
      kind === "missing" && about.matches(moment.wall) && moment.wallsByOtherOffset.length > 0,
  },
  {
    name: "gap at 02:45: its end is taken as a full hour",
    peers: ["cronosjs"],
    matches: ({ kind, about, moment }) =>
      kind === "extra" &&
      about.timezone === "Pacific/Chatham" &&
      new Date(moment.wall).getUTCMinutes() === 0 &&
      moment.wallsByOtherOffset.length > 0,
  },
  {
    name: "short month: its missing days up to a 31st are searched, and as many days of the next month are skipped",
    peers: ["croner"],
    matches: ({ kind, moment }) =>
      kind === "missing" && new Date(moment.wall).getUTCDate() + lengthOfMonthBefore(moment.wall) <= 31,
  },
]

function lengthOfMonthBefore(wall: number): number {
  const date = new Date(wall)
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 0)).getUTCDate()
}

function namesOfDifferences(about: Case, peer: Peer): Set<string> {
  const ours = occurrencesOf(about)
  if (ours.length === 0) {
    for (let day = 0; day < 28 * 366; day++) {
      assert.isFalse(about.matchesDay(Date.UTC(2000, 0, day)), `${about.expression} does match`)
    }
    // cronosjs would search without end.
    return new Set(["never matches: not compared"])
  }
  try {
    const differences = differencesBetween(ours, PEERS[peer](about), { about, peer })
    return new Set(differences.map(explain))
  } catch (error) {
    const { message } = error as Error
    if (peer === "cron-parser" && message.includes("loop limit exceeded"))
      return new Set([`throws: ${message}`])
    return new Set([`unexplained: ${show(about)} throws ${message}`])
  }
}

function differencesBetween(
  ours: readonly number[],
  theirs: readonly number[],
  of: { about: Case; peer: Peer },
): Difference[] {
  // After the last occurrence of either list nothing can be compared.
  const until = Math.min(ours.at(-1)!, theirs.at(-1) ?? Number.POSITIVE_INFINITY)
  const extra = theirs.filter((at) => at <= until && !ours.includes(at))
  const missing = ours.filter((at) => at <= until && !theirs.includes(at))
  const differ = (kind: Difference["kind"]) => (at: number) => ({
    ...of,
    kind,
    at,
    moment: momentAt(of.about.timezone, at),
  })
  return [...extra.map(differ("extra")), ...missing.map(differ("missing"))]
}

function explain(difference: Difference): string {
  const { about, kind, at, peer, moment } = difference
  const what = `${show(about)}: ${new Date(at).toISOString()} is ${kind} in ${peer}`
  if (isDueAt(about, moment) !== (kind === "missing")) return `unexplained, and we are wrong: ${what}`
  const explanation = EXPLANATIONS.find((known) => known.peers.includes(peer) && known.matches(difference))
  return explanation?.name ?? `unexplained: ${what}`
}

function show({ seed, expression, timezone, after }: Case): string {
  return `seed ${seed}, ${expression} in ${timezone} after ${new Date(after).toISOString()}`
}

function occurrencesOf({ expression, timezone, after }: Case): number[] {
  try {
    const cron = parse(expression, { timezone })
    const found: number[] = []
    let at = next(cron, after)
    while (at !== null && found.length < DEPTH) {
      found.push(at.getTime())
      at = next(cron, at)
    }
    return found
  } catch (error) {
    if (error instanceof BelfryError && error.code === "BELFRY_CRON_NEVER") return []
    throw error
  }
}
