import { defineConfig } from "tsdown"

export default defineConfig({
  entry: {
    index: "src/index.ts",
    cli: "src/cli.ts",
    config: "src/config.ts",
    cron: "src/cron.ts",
    lock: "src/lock.ts",
    postgres: "src/postgres.ts",
    redis: "src/redis.ts",
    sqlite: "src/sqlite.ts",
    store: "src/store.ts",
    tasks: "src/tasks.ts",
    testing: "src/testing.ts",
  },
  format: "esm",
  target: "node20",
  platform: "node",
  dts: true,
  sourcemap: true,
  fixedExtension: false,
  publint: true,
})
