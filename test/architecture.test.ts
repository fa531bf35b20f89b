import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, test } from "vitest"

/** Reads the source as text and keeps DESIGN section 3 true: arrows never turn back. */

const SRC = fileURLToPath(new URL("../src", import.meta.url))

interface Source {
  /** From `src/`, such as `core/cron/parse.ts`. */
  readonly path: string
  readonly text: string
  readonly lines: number
}

const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map((path) => {
    const text = readFileSync(join(SRC, path), "utf8")
    return { path, text, lines: text.split("\n").length - 1 }
  })

/** What a file imports: paths from `src/`, or module names as they are. */
function importsOf({ path, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"([^"\s]+)"/g)].map(
    (match) => match[1]!,
  )
  return specifiers.map((specifier) =>
    specifier.startsWith(".") ? relative(SRC, join(SRC, dirname(path), specifier)) : specifier,
  )
}

/** The layer a path belongs to: `core`, `stores/memory`, `engine`; a file directly in `src/` is a face. */
function layerOf(path: string): string {
  const [first, second] = path.split("/") as [string, string | undefined]
  if (second === undefined) return "face"
  if (first === "store" && second.startsWith("laws")) return "laws"
  return first === "stores" ? `${first}/${second}` : first
}

const node = (module: string) => `node:${module}`

/** Which layers, and which of Node's modules, each layer may use beside itself. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  // Time, chance and the log of a process.
  runtime: ["core", "node:crypto", "node:fs"],
  store: ["core"],
  laws: ["core", "store", "node:assert/strict"],
  // The contract of locks, and what users hold of it.
  lock: ["core", "runtime", "node:assert/strict"],
  stores: ["core", "runtime", "store", "lock", "stores/kit"],
  // What several stores have in common; it knows none of them.
  "stores/kit": ["core", "store"],
  "stores/sqlite": [
    "core",
    "runtime",
    "store",
    "lock",
    "stores/kit",
    "@photostructure/sqlite",
    ...["fs", "path"].map(node),
  ],
  "stores/postgres": ["core", "runtime", "store", "lock", "stores/kit", "pg"],
  "stores/redis": ["core", "runtime", "store", "lock", "stores/kit", "ioredis", "node:crypto"],
  task: ["core", "runtime"],
  engine: ["core", "runtime", "store", "task"],
  scheduler: ["core", "runtime", "store", "task", "engine", "node:os"],
  tasks: [
    "core",
    "runtime",
    "task",
    // `sqlFunctions` connects as the store does.
    "stores/postgres",
    ...[
      "child_process",
      "crypto",
      "dns/promises",
      "http",
      "https",
      "net",
      "stream",
      "util",
      "worker_threads",
    ].map(node),
  ],
  testing: ["core", "runtime", "store", "task", "engine", "scheduler", "stores/memory"],
  // Stores and ready-made tasks only through their faces, so that one implementation can also speak to a server.
  cli: [
    ...["core", "runtime", "store", "task", "engine", "scheduler", "stores/memory", "face"],
    ...["commander", "jiti", "yaml"],
    ...["child_process", "fs", "os", "path", "readline/promises", "url", "util"].map(node),
  ],
  face: [
    "core",
    "runtime",
    "store",
    "task",
    "laws",
    "lock",
    "stores/memory",
    "stores/postgres",
    "stores/redis",
    "stores/sqlite",
    "engine",
    "scheduler",
    "tasks",
    "testing",
    "cli",
  ],
}

/** Comments and texts name things that code may not. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
}

function offenders(pattern: RegExp, among: readonly Source[], read = codeOf): readonly string[] {
  return among.filter(({ text }) => pattern.test(read(text))).map(({ path }) => path)
}

describe("the direction of dependency", () => {
  for (const source of sources) {
    const layer = layerOf(source.path)
    test(`src/${source.path} imports only what its layer may`, () => {
      const allowed = MAY_IMPORT[layer] ?? (layer.startsWith("stores/") ? MAY_IMPORT["stores"] : undefined)
      assert.ok(allowed !== undefined, `layer "${layer}" is not in DESIGN section 3`)

      const forbidden = importsOf(source).filter((path) => {
        const isModule = !path.includes("/") || path.startsWith("node:") || path.startsWith("@")
        const target = isModule && !path.endsWith(".ts") ? path : layerOf(path)
        return target !== layer && !allowed.includes(target)
      })

      assert.deepEqual(forbidden, [])
    })
  }

  test("the reading of imports finds what it should", () => {
    const text =
      'import { a } from "../core/a.ts"\nexport type * from "./b.ts"\nimport "node:fs"\nawait import("pg")'

    const found = importsOf({ path: "engine/x.ts", text, lines: 4 })

    assert.deepEqual(found, ["core/a.ts", "engine/b.ts", "node:fs", "pg"])
  })
})

describe("time and chance", () => {
  const FORBIDDEN: readonly RegExp[] = [
    /\bDate\.now\b/,
    /\bnew Date\(\s*\)/,
    /\bDate\(\s*\)/,
    /\bsetTimeout\b/,
    /\bsetInterval\b/,
    /\bperformance\b/,
    /\bMath\.random\b/,
    /\brandomUUID\b/,
    /\bprocess\.hrtime\b/,
  ]
  for (const pattern of FORBIDDEN) {
    test(`only runtime/clock.ts names ${pattern.source.replaceAll(/\\[bs]\*?|\\/g, "")}`, () => {
      const elsewhere = sources.filter(({ path }) => path !== "runtime/clock.ts")

      assert.deepEqual(offenders(pattern, elsewhere), [])
    })
  }

  test("core reads no environment and does no input or output", () => {
    const core = sources.filter(({ path }) => path.startsWith("core/"))

    assert.deepEqual(
      offenders(/\bprocess\b|\bconsole\b|\bfetch\(|\bsetImmediate\b|\bqueueMicrotask\b/, core),
      [],
    )
  })
})

describe("house style", () => {
  test("nothing is left to be done later", () => {
    assert.deepEqual(
      offenders(/\b(TODO|FIXME|HACK|XXX)\b/, sources, (text) => text),
      [],
    )
  })

  test("named exports only; no enums, no namespaces", () => {
    assert.deepEqual(offenders(/\bexport default\b|\bnamespace \w+ \{|\benum \w+ \{/, sources), [])
  })

  test("no file is longer than 400 lines, and nine in ten are shorter than 250", () => {
    // A frozen migration is a text that databases are given, and nobody edits it.
    const read = sources.filter(({ path }) => !/^stores\/\w+\/migrations\/\d+\.ts$/.test(path))
    const long = read.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path}: ${lines}`)
    const sorted = read.map(({ lines }) => lines).sort((a, b) => a - b)
    const p90 = sorted[Math.floor(sorted.length * 0.9)]!

    assert.deepEqual(long, [])
    assert.ok(p90 < 250, `the 90th percentile is ${p90} lines`)
  })

  test("no file or class has a name that says nothing", () => {
    const names = sources.map(({ path }) => path.split("/").at(-1)!)

    assert.deepEqual(
      names.filter((name) => /^(utils?|helpers?|common|misc|types)\b/.test(name)),
      [],
    )
    assert.deepEqual(offenders(/\bclass \w*(Manager|Base|Impl|Helper)\b/, sources), [])
  })

  test("every file directly in src is an entry point of the package", () => {
    const { exports, bin } = JSON.parse(readFileSync(join(SRC, "../package.json"), "utf8")) as {
      exports: Record<string, { default: string } | string>
      bin: Record<string, string>
    }
    const published = [...Object.values(exports), ...Object.values(bin)]
      .map((entry) => (typeof entry === "string" ? entry : entry.default))
      .filter((path) => path.endsWith(".js"))
      .map((path) => path.replace("./dist/", "").replace(/js$/, "ts"))

    const inRoot = sources.map(({ path }) => path).filter((path) => !path.includes("/"))

    assert.deepEqual(inRoot.sort(), published.sort())
  })

  test("files are named in kebab-case", () => {
    const odd = sources.filter(
      ({ path }) => !path.split("/").every((part) => /^[a-z0-9-]+(\.ts)?$/.test(part)),
    )

    assert.deepEqual(
      odd.map(({ path }) => path),
      [],
    )
  })
})
