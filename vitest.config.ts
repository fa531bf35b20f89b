import { fileURLToPath } from "node:url"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"

/**
 * Two suites. `npm test` runs the projects without "long" in their name: quick, and independent of chance and of how busy
 * the machine is. `npm run test:long` runs the others: files named `*.long.test.ts`, and the laws on further servers.
 */

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

const LONG = "**/*.long.test.ts"
const IN_MEMORY = ["src/**/*.test.ts", "test/engine/**/*.test.ts", "test/scheduler/**/*.test.ts"]
const SLOW = ["test/simulation/**/*.test.ts", "test/chaos/**/*.test.ts", "test/package/**/*.test.ts"]
const POSTGRES = [
  "test/conformance/postgres*.test.ts",
  "test/stores/postgres/**/*.test.ts",
  "test/support/{postgres,pgbouncer}*.test.ts",
]
const REDIS = ["test/conformance/redis*.test.ts", "test/stores/redis/**/*.test.ts"]

/** Limits for tests that hang, not for tests that are slow: a busy machine must not reach them. */
const HANGS_AFTER_MS = 1_200_000
const LONG_HANGS_AFTER_MS = 1_800_000

interface Files {
  readonly include: readonly string[]
  readonly exclude?: readonly string[]
}

function project(name: string, { include, exclude = [] }: Files): TestProjectInlineConfiguration {
  const hangsAfterMs = name.startsWith("long") ? LONG_HANGS_AFTER_MS : HANGS_AFTER_MS
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      exclude: [...exclude],
      testTimeout: hangsAfterMs,
      hookTimeout: hangsAfterMs,
    },
  }
}

/** Files that touch nothing outside their own memory share their modules: loading them once takes a third of the time. */
function inMemory(name: string, files: Files): TestProjectInlineConfiguration {
  const plain = project(name, files)
  return { ...plain, test: { ...plain.test, isolate: false } }
}

/** The files of such a project share one server, which is found or fetched, started, and gone after the run. */
function onPostgres(name: string, files: Files, version?: number): TestProjectInlineConfiguration {
  const plain = project(name, files)
  return {
    ...plain,
    test: {
      ...plain.test,
      globalSetup: "test/support/postgres-setup.ts",
      provide: version === undefined ? {} : { postgresVersion: version },
    },
  }
}

/** As `onPostgres`, with one Redis server. */
function onRedis(
  name: string,
  files: Files,
  { isValkey }: { isValkey: boolean },
): TestProjectInlineConfiguration {
  const plain = project(name, files)
  return {
    ...plain,
    test: { ...plain.test, globalSetup: "test/support/redis-setup.ts", provide: { isValkey } },
  }
}

/** The same files, but only those of the long suite. */
function longOf(patterns: readonly string[]): readonly string[] {
  return patterns.map((pattern) => pattern.replace(/(\*?)\.test\.ts$/, "*.long.test.ts"))
}

/** The laws, and the plans, which each version makes in its own way. */
const ON_EACH_POSTGRES = ["test/conformance/postgres.test.ts", "test/stores/postgres/query-plans.test.ts"]

/** The oldest that is supported and the newest; the machine's own is most often between them. */
const VERSIONS = process.platform === "linux" && process.arch === "x64" ? [13, 18] : [18]

export default defineConfig({
  resolve: {
    alias: [
      { find: /^belfry$/, replacement: source("index.ts") },
      { find: /^belfry\/(.*)$/, replacement: source("$1.ts") },
    ],
  },
  test: {
    // Vitest leaves one of two cores idle unless told.
    maxWorkers: 2,
    projects: [
      // What `npm run test:runtimes` repeats on every Node line: "fast" and "fast-in-memory".
      project("fast", {
        include: ["test/**/*.test.ts"],
        exclude: [LONG, ...IN_MEMORY, ...SLOW, ...POSTGRES, ...REDIS],
      }),
      inMemory("fast-in-memory", { include: IN_MEMORY, exclude: [LONG] }),
      project("slow", { include: SLOW, exclude: [LONG] }),
      onPostgres("postgres", { include: POSTGRES, exclude: [LONG] }),
      onRedis("redis", { include: REDIS, exclude: [LONG] }, { isValkey: false }),

      project("long", { include: [LONG], exclude: longOf([...POSTGRES, ...REDIS]) }),
      onPostgres("long-postgres", { include: longOf(POSTGRES) }),
      ...VERSIONS.map((version) =>
        onPostgres(`long-postgres-${version}`, { include: ON_EACH_POSTGRES }, version),
      ),
      onRedis("long-redis", { include: longOf(REDIS) }, { isValkey: false }),
      onRedis("long-valkey", { include: ["test/conformance/redis.test.ts"] }, { isValkey: true }),
    ],
  },
})
