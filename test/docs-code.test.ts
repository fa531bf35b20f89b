import assert from "node:assert/strict"
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { basename, dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { afterAll, test } from "vitest"

const ROOT = fileURLToPath(new URL("..", import.meta.url))
/** This folder is in the project so that blocks can import its packages. Each process has its own folder. */
const CACHE = join(ROOT, `.cache/docs-code-${process.pid}`)
const BLOCKS = join(CACHE, "blocks")
const PRELUDE_FILE = join(CACHE, "prelude.d.ts")
const SOURCES = [
  "index",
  "cron",
  "testing",
  "store",
  "tasks",
  "sqlite",
  "postgres",
  "redis",
  "config",
  "lock",
].map((entry) => join(ROOT, `src/${entry}.ts`))

afterAll(() => rmSync(CACHE, { recursive: true, force: true }))

/** Declarations that blocks may use. A block's own declarations take precedence. */
const PRELUDE = `
declare const scheduler: import("belfry").Scheduler
declare const store: import("belfry").Store
declare const report: import("belfry").Task<undefined, undefined>
declare const importOrders: import("belfry").Task<undefined, undefined>
declare const sendDigest: import("belfry").Task<{ userId: string; limit?: number }, { userId: string; limit: number }>
declare const mailer: { send(digest: { userId: string; limit: number }, about: { signal: AbortSignal; idempotencyKey: string }): Promise<number> }
declare interface MyClient { migrate(): Promise<void>; end(): Promise<void>; clock(): Promise<number> }
declare function otherOperations(client: MyClient): Omit<import("belfry/store").Store, "open" | "close" | "now">
declare function emptyDatabase(): Promise<string>
declare function connect(url: string): Promise<MyClient>
declare const warehouse: { load(about: { day: string; signal: AbortSignal }): Promise<number> }
`

/** A file of the reader that a block imports. */
const MY_STORE = `export declare function createMyStore(client: MyClient): import("belfry/store").Store`

test("every TypeScript block in the documentation compiles", () => {
  const { program, blocks } = compiled()
  const files = [PRELUDE_FILE, ...blocks.map(({ file }) => join(BLOCKS, file))]

  const problems = files.flatMap((file) => problemsIn(program, file))

  assert.ok(blocks.length > 30, `only ${blocks.length} blocks were found`)
  assert.deepEqual(
    problems.map((problem) => explain(problem, blocks)),
    [],
  )
})

test("every link between pages of the documentation has an existing target", () => {
  const broken = pages().flatMap((page) =>
    linksOf(page)
      .filter((link) => !exists(join(dirname(page), link)))
      .map((link) => `${relative(ROOT, page)}: ${link}`),
  )

  assert.deepEqual(broken, [])
})

test("every test file named in docs/requirements.md exists", () => {
  const requirements = readFileSync(join(ROOT, "docs/requirements.md"), "utf8")
  const named = [...requirements.matchAll(/`((?:core|engine|scheduler|test|bench)\/[\w./-]+)`/g)].map(
    ([, path]) => path!.replace(/^core\//, "src/core/").replace(/^(engine|scheduler)\//, "test/$1/"),
  )

  assert.ok(named.length > 50)
  assert.deepEqual(
    named.filter((path) => !exists(join(ROOT, path))),
    [],
  )
})

test("every export of the package is in docs/reference/api.md", () => {
  const reference = readFileSync(join(ROOT, "docs/reference/api.md"), "utf8")
  const named = new Set(
    [...reference.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code!.match(/\w+/g) ?? []),
  )

  const missing = exportsOf(compiled().program, SOURCES).filter((name) => !named.has(name))

  assert.deepEqual(missing, [])
})

interface Block {
  readonly file: string
  readonly text: string
  readonly page: string
  readonly line: number
}

function pages(): readonly string[] {
  const docs = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  const top = readdirSync(ROOT).filter((file) => file.endsWith(".md"))
  return [...top, ...docs.map((file) => join("docs", file))]
    .filter((file) => file.endsWith(".md"))
    .map((file) => join(ROOT, file))
}

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(page, "utf8")
  const name = relative(ROOT, page).replaceAll(/[/\\.]/g, "-")
  return [...text.matchAll(/^```ts\n(.*?)^```$/gms)].map((match, index) => ({
    file: `${name}-${index + 1}.ts`,
    text: match[1]!,
    page: relative(ROOT, page),
    line: text.slice(0, match.index).split("\n").length,
  }))
}

let once: { readonly program: ts.Program; readonly blocks: readonly Block[] } | null = null

/** The blocks of all pages and the entry points of the package, read once for all tests. */
function compiled(): NonNullable<typeof once> {
  if (once !== null) return once
  const blocks = pages().flatMap(blocksOf)
  for (const folder of [BLOCKS, join(CACHE, "src")]) mkdirSync(folder, { recursive: true })
  writeFileSync(PRELUDE_FILE, PRELUDE)
  writeFileSync(join(CACHE, "src/my-store.ts"), MY_STORE)
  for (const { file, text } of blocks) writeFileSync(join(BLOCKS, file), text)
  const files = [PRELUDE_FILE, ...blocks.map(({ file }) => join(BLOCKS, file)), ...SOURCES]
  once = { program: programOf(files), blocks }
  return once
}

function programOf(files: readonly string[]): ts.Program {
  const config = ts.readConfigFile(join(ROOT, "tsconfig.json"), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, ROOT)
  // A block often declares a name that only the reader's code would use.
  return ts.createProgram(files, { ...options, noUnusedLocals: false, noUnusedParameters: false })
}

function exportsOf(program: ts.Program, files: readonly string[]): readonly string[] {
  const checker = program.getTypeChecker()
  return files.flatMap((file) => {
    const entry = checker.getSymbolAtLocation(program.getSourceFile(file)!)!
    return checker.getExportsOfModule(entry).map((symbol) => symbol.name)
  })
}

function problemsIn(program: ts.Program, file: string): readonly ts.Diagnostic[] {
  const source = program.getSourceFile(file)
  return [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
}

function explain({ file, start, messageText }: ts.Diagnostic, blocks: readonly Block[]): string {
  const text = ts.flattenDiagnosticMessageText(messageText, "\n")
  const block = blocks.find((each) => each.file === basename(file?.fileName ?? ""))
  const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start ?? 0).line + 1
  return `${block?.page}:${(block?.line ?? 0) + line}: ${text}`
}

function linksOf(page: string): readonly string[] {
  const prose = readFileSync(page, "utf8").replaceAll(/^```.*?^```$/gms, "")
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1]!.split("#")[0]!)
    .filter((link) => link !== "" && !/^[a-z]+:/.test(link))
}

function exists(path: string): boolean {
  return ts.sys.fileExists(path) || ts.sys.directoryExists(path)
}
