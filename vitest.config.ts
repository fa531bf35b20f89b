import { fileURLToPath } from "node:url"
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

const SLOW = ["test/simulation/**/*.test.ts", "test/chaos/**/*.test.ts", "test/package/**/*.test.ts"]
const POSTGRES = [
  "test/conformance/postgres.test.ts",
  "test/stores/postgres/**/*.test.ts",
  "test/support/{postgres,pgbouncer}*.test.ts",
]
const REDIS = ["test/conformance/redis.test.ts", "test/stores/redis/**/*.test.ts"]

/** Its files share one server, which is found or fetched, started, and gone after the run. */
function onPostgres(
  name: string,
  include: readonly string[],
  version?: number,
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      globalSetup: "test/support/postgres-setup.ts",
      provide: version === undefined ? {} : { postgresVersion: version },
      testTimeout: 30_000,
      hookTimeout: 120_000,
    },
  }
}

/** As those on PostgreSQL do. */
function onRedis(
  name: string,
  include: readonly string[],
  { isValkey }: { isValkey: boolean },
): TestProjectInlineConfiguration {
  return {
    extends: true,
    test: {
      name,
      include: [...include],
      globalSetup: "test/support/redis-setup.ts",
      provide: { isValkey },
      testTimeout: 30_000,
      hookTimeout: 120_000,
    },
  }
}

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
    // `fast` is what `npm run test:runtimes` repeats on every Node line; `slow` needs many seconds, the others a server.
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...SLOW, ...POSTGRES, ...REDIS],
          testTimeout: 20_000,
        },
      },
      { extends: true, test: { name: "slow", include: SLOW, testTimeout: 900_000 } },
      onPostgres("postgres", POSTGRES),
      ...VERSIONS.map((version) =>
        onPostgres(`postgres-${version}`, ["test/conformance/postgres.test.ts"], version),
      ),
      onRedis("redis", REDIS, { isValkey: false }),
      onRedis("valkey", ["test/conformance/redis.test.ts"], { isValkey: true }),
    ],
  },
})
