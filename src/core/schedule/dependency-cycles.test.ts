import assert from "node:assert/strict"
import { describe, test } from "vitest"
import {
  cycleInWords,
  cyclesIn,
  cycleThrough,
  idsDependedOn,
  inDependencyOrder,
} from "./dependency-cycles.ts"

/** `"a>b,c b>a"`: a depends on b and c, b on a. */
function graph(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = text.split(" ").map((entry) => entry.split(">"))
  return new Map(entries.map(([id, needed = ""]) => [id!, needed === "" ? [] : needed.split(",")]))
}

const CASES: readonly (readonly [text: string, cycles: readonly string[]])[] = [
  ["a", []],
  ["a>b b>c c", []],
  ["a>b,c b>d c>d d", []],
  ["a>missing b>a", []],
  ["a>b,b b", []],
  ["a>a", ["a → a"]],
  ["a>b b>a", ["a → b → a"]],
  ["a>b b>c c>a", ["a → b → c → a"]],
  // A schedule that leads to a cycle, or that the cycle leads to, isn't in the cycle.
  ["x>a a>b b>a,y y", ["a → b → a"]],
  // The shortest cycle is reported.
  ["a>b,c b>d d>a c>a", ["a → c → a", "b → d → a → b"]],
  ["a>b b>a c>d d>c", ["a → b → a", "c → d → c"]],
  // Each schedule of a group of connected cycles is in one of the reported cycles.
  ["a>b,c b>a c>b", ["a → b → a", "c → b → a → c"]],
  // A schedule on a path from one cycle to another is in neither.
  ["a>b b>a,w w>c c>d d>c", ["a → b → a", "c → d → c"]],
]

describe("dependency cycles", () => {
  test.each(CASES)("the dependencies %s have the cycles %j", (text, cycles) => {
    assert.deepEqual(cyclesIn(graph(text)).map(cycleInWords), cycles)
  })

  test("a cycle is found from each of its schedules, and from no other schedule", () => {
    const all = graph("x>a a>b b>c c>a,y y")

    assert.deepEqual(
      [..."xabcy"].map((id) => cycleThrough(id, all)?.join("") ?? null),
      [null, "abca", "bcab", "cabc", null],
    )
  })

  test.each([
    [7, "s5 → s6 → s0 → s1 → s2 → s3 → s4 → s5"],
    [8, "s5 → s6 → s7 → s0 → s1 → s2 → s3 → … → s5"],
    [100, "s5 → s6 → s7 → s8 → s9 → s10 → s11 → … → s5"],
  ])("a cycle of %d schedules is shown in one line", (length, words) => {
    const ring = Array.from({ length }, (_, index) => `s${index}>s${(index + 1) % length}`)

    assert.equal(cycleInWords(cycleThrough("s5", graph(ring.join(" ")))!), words)
  })
})

/** The ids of the schedules whose dependencies the search for cycles followed, in order. */
function searched(all: ReturnType<typeof graph>): readonly string[] {
  const ids: string[] = []
  const observed = [...all].map(([id, needed]) => {
    const followed = {
      *[Symbol.iterator]() {
        ids.push(id)
        yield* needed
      },
    }
    return [id, Object.assign([...needed], followed)] as const
  })
  cyclesIn(new Map(observed))
  return ids
}

test.each([
  ["a>b b>c c", []],
  ["c b>c a>b", []],
  ["a>b,c b>d c>d d", []],
  ["a>missing b>a", []],
  ["x>a y>a a>a z", ["x", "a", "y", "a", "a"]],
])(
  "without a cycle no path is followed, and with a cycle only the paths that lead to it: %s",
  (text, ids) => {
    assert.deepEqual(searched(graph(text)), ids)
  },
)

test("the dependencies of a definition are given as schedule ids", () => {
  const dependsOn = [{ scheduleId: "a" }, { scheduleId: "b" }]

  assert.deepEqual(idsDependedOn({ dependsOn }), ["a", "b"])
})

test("a chain of 100,000 dependencies has no cycle", () => {
  const length = 100_000
  const chain = new Map(
    Array.from({ length }, (_, index) => [`s${index}`, index + 1 < length ? [`s${index + 1}`] : []]),
  )

  assert.deepEqual(cyclesIn(chain), [])
  assert.equal(cycleThrough("s0", chain), null)
})

describe("the order of dependencies", () => {
  test.each([
    ["a b c", "a b c"],
    ["a>b b>c c", "c b a"],
    ["a>c b c", "c a b"],
    ["a>b,c b>d c>d d", "d c b a"],
    ["a>elsewhere b", "a b"],
  ])("of %s is %s", (text, order) => {
    assert.equal(inDependencyOrder(graph(text)).join(" "), order)
  })

  test("of a chain of 100,000 ids is found without overflowing the stack", () => {
    const last = 100_000
    const chain = new Map(Array.from({ length: last }, (_, id) => [`${id}`, [`${id + 1}`]] as const))

    const order = inDependencyOrder(chain)

    assert.deepEqual([order.length, order[0], order.at(-1)], [last, `${last - 1}`, "0"])
  })
})
