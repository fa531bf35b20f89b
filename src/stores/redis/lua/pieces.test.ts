import assert from "node:assert/strict"
import { readdirSync } from "node:fs"
import { describe, test } from "vitest"
import type { LuaPiece } from "../script.ts"

const files = readdirSync(import.meta.dirname).filter((name) => !name.endsWith(".test.ts"))
const modules = await Promise.all(
  files.map((name) => import(`./${name}`) as Promise<Record<string, unknown>>),
)
const pieces = new Map(
  modules.flatMap((module) => Object.entries(module).filter(isPiece)) as [name: string, piece: LuaPiece][],
)

describe.each([...pieces])("the piece %s", (_, piece) => {
  test("names the pieces whose functions and constants it uses", () => {
    const needed = [piece, ...allNeedsOf(piece)].map(definedIn)
    const defined = [...pieces.values()].map(definedIn)

    const missing = [...usedBy(piece)].filter(
      (used) => isIn(defined, used) && !isIn(needed, used) && !piece.text.includes(`local ${used}`),
    )

    assert.deepEqual(missing, [])
  })

  test("names no piece that it doesn't use", () => {
    const unused = piece.needs.filter((needed) =>
      [...usedBy(piece)].every((used) => !definedIn(needed).has(used)),
    )

    assert.deepEqual(unused.map(nameOf), [])
  })
})

function isPiece(entry: [string, unknown]): boolean {
  return typeof entry[1] === "object" && entry[1] !== null && "needs" in entry[1]
}

function nameOf(piece: LuaPiece): string | undefined {
  return [...pieces].find(([, each]) => each === piece)?.[0]
}

function allNeedsOf({ needs }: LuaPiece): ReadonlySet<LuaPiece> {
  return new Set(needs.flatMap((piece) => [piece, ...allNeedsOf(piece)]))
}

function isIn(sets: readonly ReadonlySet<string>[], name: string): boolean {
  return sets.some((names) => names.has(name))
}

/** Functions as `name(`, and constants. Other locals have names that are parameters elsewhere, except a few. */
function definedIn({ text }: LuaPiece): ReadonlySet<string> {
  const functions = [...text.matchAll(/^local function (\w+)/gm)].map(([, name]) => `${name}(`)
  const values = [...text.matchAll(/^local ([\w, ]+)(?: =|$)/gm)].flatMap(([, names]) => names!.split(", "))
  return new Set([...functions, ...values.filter((name) => /^[A-Z_]+$/.test(name) || SHARED.has(name))])
}

const SHARED = new Set(["prefix", "call", "now_text", "worker", "kinds", "touched"])

function usedBy({ text }: LuaPiece): ReadonlySet<string> {
  const code = text.replaceAll(/--.*$/gm, "").replaceAll(/'[^'\n]*'/g, "''")
  const names = [...code.matchAll(/(?<![\w.:])[A-Za-z_]\w*\b\(?/g)].map(([name]) => name)
  return new Set(names.flatMap((name) => [name, name.replace("(", "")]))
}
