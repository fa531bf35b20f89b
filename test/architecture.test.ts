import assert from "node:assert/strict"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, test } from "vitest"

// These tests read the source as text and check the rules of docs/internals/architecture.md.

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

/** The imports of a file: paths from `src/`, or names of modules. */
function importsOf({ path, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"([^"\s]+)"/g)].map(
    (match) => match[1]!,
  )
  return specifiers.map((specifier) =>
    specifier.startsWith(".") ? relative(SRC, join(SRC, dirname(path), specifier)) : specifier,
  )
}

/** The layer of a path: `core`, `stores/memory`, `engine`. A file directly in `src/` is in the layer `entry`. */
function layerOf(path: string): string {
  const [first, second] = path.split("/") as [string, string | undefined]
  if (second === undefined) return "entry"
  if (first === "store" && second.startsWith("laws")) return "laws"
  return first === "stores" ? `${first}/${second}` : first
}

const node = (module: string) => `node:${module}`

/** The other layers and the modules that each layer may import. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  // The clock, random numbers and the log of a process.
  runtime: ["core", "node:crypto", "node:fs"],
  store: ["core"],
  laws: ["core", "store", "node:assert/strict"],
  // The contract of locks, and the objects that users get from it.
  lock: ["core", "runtime", "node:assert/strict"],
  stores: ["core", "runtime", "store", "lock", "stores/kit"],
  // Code shared by several stores. It imports none of them.
  "stores/kit": ["core", "runtime", "store"],
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
  // The functions of `belfry/cron`: those of core, with checked arguments.
  cron: ["core"],
  task: ["core", "runtime"],
  engine: ["core", "runtime", "store", "task"],
  scheduler: ["core", "runtime", "store", "task", "engine", "node:os"],
  tasks: [
    "core",
    "runtime",
    "task",
    // `sqlFunctions` connects in the same way as the store.
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
  // Stores and ready-made tasks are imported only through their entry points, so that a server can take their place.
  cli: [
    ...["core", "runtime", "store", "task", "engine", "scheduler", "stores/memory", "entry"],
    ...["commander", "jiti", "yaml"],
    ...["child_process", "fs", "os", "path", "readline/promises", "url", "util"].map(node),
  ],
  entry: [
    "core",
    "runtime",
    "store",
    "task",
    "laws",
    "lock",
    "cron",
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

/** The folders of core that each folder of core may import. A folder stands below the folders that it imports. */
const CORE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": [],
  values: ["errors.ts"],
  time: ["errors.ts", "values"],
  cron: ["errors.ts", "values", "time"],
  run: ["errors.ts", "values", "time"],
  schedule: ["errors.ts", "values", "time", "cron", "run"],
  records: ["errors.ts", "values", "time", "run", "schedule"],
  planning: ["errors.ts", "values", "time", "run", "schedule", "records"],
  options: ["errors.ts", "values", "time", "cron", "run", "schedule", "planning"],
}

/** The folder of a path of core: `cron` for `core/cron/parse.ts`. A file directly in core counts as a folder. */
function coreFolderOf(path: string): string {
  return path.split("/")[1]!
}

/** The imports of a file of core that its folder may not have. */
function forbiddenInCore(source: Source): readonly string[] {
  const folder = coreFolderOf(source.path)
  const allowed = [folder, ...(CORE_MAY_IMPORT[folder] ?? [])]
  return importsOf(source).filter((path) => path.startsWith("core/") && !allowed.includes(coreFolderOf(path)))
}

/**
 * The files that a line of architecture.md names, each as the places where it may be. A path that doesn't begin with `src/` is
 * in the folder of the last path that does, directly in `src`, or in `src/core`.
 */
function sourcesNamedIn(line: string): readonly (readonly RegExp[])[] {
  let folder = ""
  return [...line.matchAll(/`([\w./*-]+\.ts)`/g)].flatMap(([, name]) => {
    if (/^(test|bench)\//.test(name!)) return []
    const path = name!.replace(/^src\//, "")
    if (path !== name) folder = dirname(path)
    return [[path, join(folder, path), join("core", path)].map(patternOf)]
  })
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll("*", "[^/]+")}$`)
}

/** The code without comments and string contents, which may contain names that code may not use. */
function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
}

function offenders(pattern: RegExp, among: readonly Source[], read = codeOf): readonly string[] {
  return among.filter(({ text }) => pattern.test(read(text))).map(({ path }) => path)
}

describe("the direction of dependencies", () => {
  for (const source of sources) {
    const layer = layerOf(source.path)
    test(`src/${source.path} imports only layers and modules that its layer may import`, () => {
      const allowed = MAY_IMPORT[layer] ?? (layer.startsWith("stores/") ? MAY_IMPORT["stores"] : undefined)
      assert.ok(allowed !== undefined, `layer "${layer}" is not in MAY_IMPORT`)

      const forbidden = importsOf(source).filter((path) => {
        const isModule = !path.includes("/") || path.startsWith("node:") || path.startsWith("@")
        const target = isModule && !path.endsWith(".ts") ? path : layerOf(path)
        return target !== layer && !allowed.includes(target)
      })

      assert.deepEqual(forbidden, [])
    })
  }

  test("importsOf finds every form of import", () => {
    const text =
      'import { a } from "../core/a.ts"\nexport type * from "./b.ts"\nimport "node:fs"\nawait import("pg")'

    const found = importsOf({ path: "engine/x.ts", text, lines: 4 })

    assert.deepEqual(found, ["core/a.ts", "engine/b.ts", "node:fs", "pg"])
  })
})

describe("the folders of core", () => {
  const core = sources.filter(({ path }) => path.startsWith("core/"))
  const folders = Object.keys(CORE_MAY_IMPORT)

  test("every file of core imports only folders of core that its folder may import", () => {
    const forbidden = core.flatMap((source) =>
      forbiddenInCore(source).map((path) => `${source.path} imports ${path}`),
    )

    assert.deepEqual(forbidden, [])
  })

  test.each([
    ["core/run/run.ts", "../schedule/schedule.ts", ["core/schedule/schedule.ts"]],
    ["core/planning/fire.ts", "../options/policies.ts", ["core/options/policies.ts"]],
    ["core/planning/fire.ts", "../schedule/schedule.ts", []],
    ["core/planning/fire.ts", "./plan.ts", []],
    ["core/new-folder/x.ts", "../errors.ts", ["core/errors.ts"]],
    ["core/errors.ts", "./values/json.ts", ["core/values/json.ts"]],
  ])("of %s with the import %s, the forbidden imports are %j", (path, specifier, forbidden) => {
    const text = `import type { X } from "${specifier}"`

    assert.deepEqual(forbiddenInCore({ path, text, lines: 1 }), forbidden)
  })

  test("there is no cycle: a folder may import only folders listed above it", () => {
    for (const [index, folder] of folders.entries()) {
      const below = CORE_MAY_IMPORT[folder]!.filter((other) => !folders.slice(0, index).includes(other))

      assert.deepEqual(below, [], folder)
    }
  })

  test("the folders are those of src/core, and architecture.md describes each in the same order", () => {
    const page = readFileSync(join(SRC, "../docs/internals/architecture.md"), "utf8")
    const described = [...page.matchAll(/^\| `([\w.-]+?)\/?` \| /gm)].map((match) => match[1]!)

    assert.deepEqual(folders.toSorted(), [...new Set(core.map(({ path }) => coreFolderOf(path)))].toSorted())
    assert.deepEqual(described, folders)
  })
})

describe("the command line", () => {
  /** Functions of what a `Client` returns. A client of a server has them, too. */
  const OF_VIEWS = [
    "listing",
    "online-workers",
    "schedules/apply-steps",
    "schedules/view-options",
    "views",
  ].map((name) => `scheduler/${name}.ts`)
  /** These make a scheduler on a store. */
  const WITH_SCHEDULER = ["cli/session/session.ts", "cli/perform/start.ts"]

  /** The files from which a file imports more than types. */
  function valueImportsOf(source: Source): readonly string[] {
    const statements = [...source.text.matchAll(/^import \{([^}]*)\} from "([^"]+)"/gm)]
    const withValues = statements.filter(([, names]) =>
      names!.split(",").some((name) => name.trim() !== "" && !name.trim().startsWith("type ")),
    )
    return withValues.map(([, , path]) => relative(SRC, join(SRC, dirname(source.path), path!)))
  }

  test("calls a Client, and otherwise only functions of its results", () => {
    const found = sources
      .filter(({ path }) => path.startsWith("cli/") && !WITH_SCHEDULER.includes(path))
      .flatMap((source) => valueImportsOf(source).map((path) => ({ from: source.path, path })))

    const others = found.filter(({ path }) => path.startsWith("scheduler/") && !OF_VIEWS.includes(path))

    assert.ok(found.length > 100, `only ${found.length} imports were found`)
    assert.deepEqual(others, [])
  })
})

describe("time and random numbers", () => {
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
    test(`only runtime/clock.ts uses ${pattern.source.replaceAll(/\\[bs]\*?|\\/g, "")}`, () => {
      const elsewhere = sources.filter(({ path }) => path !== "runtime/clock.ts")

      assert.deepEqual(offenders(pattern, elsewhere), [])
    })
  }

  test("core neither reads the environment nor does input or output", () => {
    const core = sources.filter(({ path }) => path.startsWith("core/"))

    assert.deepEqual(
      offenders(/\bprocess[.[]|\bconsole\b|\bfetch\(|\bsetImmediate\b|\bqueueMicrotask\b/, core),
      [],
    )
  })
})

describe("house style", () => {
  test("no source file contains TODO, FIXME, HACK or XXX", () => {
    assert.deepEqual(
      offenders(/\b(TODO|FIXME|HACK|XXX)\b/, sources, (text) => text),
      [],
    )
  })

  test("no source file has a default export, an enum or a namespace", () => {
    assert.deepEqual(offenders(/\bexport default\b|\bnamespace \w+ \{|\benum \w+ \{/, sources), [])
  })

  test("no source file is longer than 400 lines, and 90% are shorter than 250", () => {
    // Released migrations are never edited.
    const counted = sources.filter(({ path }) => !/^stores\/\w+\/migrations\/\d+\.ts$/.test(path))
    const long = counted.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path}: ${lines}`)
    const sorted = counted.map(({ lines }) => lines).sort((a, b) => a - b)
    const p90 = sorted[Math.floor(sorted.length * 0.9)]!

    assert.deepEqual(long, [])
    assert.ok(p90 < 250, `the 90th percentile is ${p90} lines`)
  })

  test("no source file or class has a vague name such as utils or Manager", () => {
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

  test("every file directly in src, except the program, contains only exports of other files", () => {
    const withCode = sources.filter(
      ({ path, text }) =>
        !path.includes("/") &&
        path !== "cli.ts" &&
        codeOf(text)
          .replaceAll(/^export (type )?(\{[^}]*\}|\*) from "";?$/gm, "")
          .trim() !== "",
    )

    assert.deepEqual(
      withCode.map(({ path }) => path),
      [],
    )
  })

  test("every source file that architecture.md names exists", () => {
    const page = readFileSync(join(SRC, "../docs/internals/architecture.md"), "utf8")

    const named = page.split("\n").flatMap(sourcesNamedIn)
    const missing = named.filter(
      (places) => !sources.some(({ path }) => places.some((place) => place.test(path))),
    )

    assert.ok(named.length > 70, `only ${named.length} names were found`)
    assert.deepEqual(missing, [])
  })

  test("source files are named in kebab-case", () => {
    const odd = sources.filter(
      ({ path }) => !path.split("/").every((part) => /^[a-z0-9-]+(\.ts)?$/.test(part)),
    )

    assert.deepEqual(
      odd.map(({ path }) => path),
      [],
    )
  })
})
