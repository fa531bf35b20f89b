import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url))

export default defineConfig({
  resolve: {
    alias: [
      { find: /^belfry$/, replacement: source("index.ts") },
      { find: /^belfry\/(.*)$/, replacement: source("$1.ts") },
    ],
  },
  test: {
    // `fast` is what `npm run test:runtimes` repeats on every Node line; `slow` needs many seconds.
    projects: [
      {
        extends: true,
        test: {
          name: "fast",
          include: ["src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: ["test/simulation/**", "test/chaos/**", "test/package/**"],
        },
      },
      {
        extends: true,
        test: {
          name: "slow",
          include: ["test/simulation/**/*.test.ts", "test/chaos/**/*.test.ts", "test/package/**/*.test.ts"],
          testTimeout: 300_000,
        },
      },
    ],
  },
})
