import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { test } from "vitest"
import { PLANTED_BUGS } from "./simulation/planted-bugs.ts"

const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8")

const contract = read("src/store/store.ts")
const [, members] = /export interface Store \{\n(.*?)\n\}/s.exec(contract)!
const operations = members!.match(/^ {2}\w+\(/gm)!.length
const bugs = Object.keys(PLANTED_BUGS).length
const laws = contract.match(/^ \* +\d+\. [A-Z]/gm)!.length

const WORDS = [
  "sixteen",
  "seventeen",
  "eighteen",
  "nineteen",
  "twenty",
  "twenty-one",
  "twenty-two",
  "twenty-three",
  "twenty-four",
]
const inWords = (count: number) =>
  ({ 11: "eleven", 12: "twelve", 13: "thirteen" })[count] ?? WORDS[count - 16]!

test.each([
  ["docs/guides/writing-a-store.md", `one object with ${inWords(operations)} operations`],
  ["docs/guides/writing-a-store.md", `// ${inWords(operations - 3)} more, most of them one statement`],
  ["docs/guides/writing-a-store.md", `the ${inWords(laws)}\nlaws`],
  [
    "docs/decisions/0002-store-contract-read-plan-swap.md",
    `${inWords(operations)} operations and ${inWords(laws)} laws`,
  ],
  ["README.md", `[${inWords(laws)} laws]`],
  ["README.md", `must notice ${bugs} bugs`],
  ["docs/internals/simulation.md", `holds ${bugs} bugs`],
])("%s has the correct count: %j", (path, words) => {
  assert.ok(read(path).toLowerCase().includes(words.toLowerCase()), `${path} doesn't say "${words}"`)
})
