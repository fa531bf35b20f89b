import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { cycleInWords, cyclesIn, cycleThrough, idsDependedOn } from "./dependency-cycles.ts"

/** `"a>b,c b>a"`: a depends on b and c, b on a. */
function graph(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = text.split(" ").map((entry) => entry.split(">"))
  return new Map(entries.map(([id, needed = ""]) => [id!, needed === "" ? [] : needed.split(",")]))
}

const CASES: readonly (readonly [text: string, cycles: readonly string[]])[] = [
  ["a", []],
  ["a>b b>c c", []],
  ["a>b,c b>d c>d d", []],
  ["a>nobody b>a", []],
  ["a>b,b b", []],
  ["a>a", ["a → a"]],
  ["a>b b>a", ["a → b → a"]],
  ["a>b b>c c>a", ["a → b → c → a"]],
  // Those that lead to a cycle, or that it leads to, aren't in it.
  ["x>a a>b b>a,y y", ["a → b → a"]],
  // The shortest is told.
  ["a>b,c b>d d>a c>a", ["a → c → a", "b → d → a → b"]],
  ["a>b b>a c>d d>c", ["a → b → a", "c → d → c"]],
  // Each schedule of a knot is in one of the cycles.
  ["a>b,c b>a c>b", ["a → b → a", "c → b → a → c"]],
  // A way from one cycle to another is in none.
  ["a>b b>a,w w>c c>d d>c", ["a → b → a", "c → d → c"]],
]

describe("schedules that wait for one another", () => {
  test.each(CASES)("%s: %j", (text, cycles) => {
    assert.deepEqual(cyclesIn(graph(text)).map(cycleInWords), cycles)
  })

  test("are found from each of them, and from no other", () => {
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
  ])("are told in one line, however many they are: %d", (length, words) => {
    const ring = Array.from({ length }, (_, index) => `s${index}>s${(index + 1) % length}`)

    assert.equal(cycleInWords(cycleThrough("s5", graph(ring.join(" ")))!), words)
  })
})

/** The ids of the schedules from which a search for a cycle looked further, in order. */
function searched(all: ReturnType<typeof graph>): readonly string[] {
  const ids: string[] = []
  const told = [...all].map(([id, needed]) => {
    const followed = {
      *[Symbol.iterator]() {
        ids.push(id)
        yield* needed
      },
    }
    return [id, Object.assign([...needed], followed)] as const
  })
  cyclesIn(new Map(told))
  return ids
}

test.each([
  ["a>b b>c c", []],
  ["c b>c a>b", []],
  ["a>b,c b>d c>d d", []],
  ["a>nobody b>a", []],
  ["x>a y>a a>a z", ["x", "a", "y", "a", "a"]],
])("without a cycle no way is followed; with one, only the ways that lead to it: %s", (text, ids) => {
  assert.deepEqual(searched(graph(text)), ids)
})

test("what a definition depends on is told by ids", () => {
  const dependsOn = [{ scheduleId: "a" }, { scheduleId: "b" }]

  assert.deepEqual(idsDependedOn({ dependsOn }), ["a", "b"])
})

test("a long chain is looked at once", () => {
  const length = 100_000
  const chain = new Map(
    Array.from({ length }, (_, index) => [`s${index}`, index + 1 < length ? [`s${index + 1}`] : []]),
  )

  assert.deepEqual(cyclesIn(chain), [])
  assert.equal(cycleThrough("s0", chain), null)
})
