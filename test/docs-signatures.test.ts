import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import ts from "typescript"
import { test } from "vitest"
import { API_REFERENCE, shownOn, withSignatures } from "../scripts/api-signatures.ts"
import { ENTRIES, type PublicName, publicNamesOf } from "../scripts/signatures/declarations.ts"

const page = readFileSync(API_REFERENCE, "utf8")
const blocks = [...page.matchAll(/^~~~ts\n(.*?)^~~~$/gms)].map((match) => match[1]!)

test("docs/reference/api.md has the signatures of the code (npx tsx scripts/api-signatures.ts)", () => {
  assert.equal(withSignatures(page), page)
})

test("docs/reference/api.md has the signature of each export once", () => {
  const exported = ENTRIES.flatMap((entry) => [...publicNamesOf(entry).values()]).filter(isUsable)

  const shown = shownOn(page).map(placeOf)

  assert.deepEqual(
    exported.map(placeOf).filter((place) => !shown.includes(place)),
    [],
  )
  assert.deepEqual(
    shown.filter((place, index) => shown.indexOf(place) !== index),
    [],
  )
})

test("every signature in docs/reference/api.md is valid TypeScript of at most 110 columns", () => {
  const problems = ts.transpileModule(blocks.join("\n"), { reportDiagnostics: true }).diagnostics!

  assert.ok(blocks.length > 30, `only ${blocks.length} blocks were found`)
  assert.deepEqual(
    problems.map(({ messageText }) => messageText),
    [],
  )
  assert.deepEqual(
    blocks.flatMap((block) => block.split("\n")).filter((line) => line.length > 110),
    [],
  )
})

test("every type that a signature in docs/reference/api.md names has its own signature there", () => {
  const known = new Set([...shownOn(page).map(({ name }) => name), ...OF_TYPESCRIPT, ...OPAQUE])

  const unknown = blocks.flatMap(typesNamedIn).filter((name) => !known.has(name))

  assert.deepEqual([...new Set(unknown)], [])
})

/** Types of the language and its libraries, and the `const` of `as const`. */
const OF_TYPESCRIPT = `
  AbortSignal AsyncDisposable AsyncIterable Awaited const Date Error NodeJS.Signals Omit Partial Pick Promise PromiseLike
  PropertyKey Readonly Record RegExp Required ReturnType
`
  .trim()
  .split(/\s+/)

/** Types that callers pass on and never read. */
const OPAQUE = ["Database", "DetailsIn", "Field", "FieldLookups", "Zone"]

/** A function that is exported only as a type can't be called. */
function isUsable({ declarations, isTypeOnly }: PublicName): boolean {
  return !(isTypeOnly && ts.isFunctionDeclaration(declarations[0]!))
}

/** Two entry points may export different things by one name, and the same thing by two names. */
function placeOf({ name, file }: PublicName): string {
  return `${name} in ${file}`
}

/** The names of types in a block, without type parameters. */
function typesNamedIn(block: string): readonly string[] {
  const named: string[] = []
  const parameters = new Set<string>()
  const visit = (node: ts.Node): void => {
    if (ts.isTypeReferenceNode(node) || ts.isExpressionWithTypeArguments(node))
      named.push((ts.isTypeReferenceNode(node) ? node.typeName : node.expression).getText())
    if (ts.isTypeParameterDeclaration(node)) parameters.add(node.name.text)
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile("block.ts", block, ts.ScriptTarget.Latest, true))
  return named.filter((name) => !parameters.has(name))
}
