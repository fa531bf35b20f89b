import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { importsOf, layerOf, sources } from "./sources.ts"

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
