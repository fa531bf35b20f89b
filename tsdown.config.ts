import { defineConfig } from "tsdown"

export default defineConfig({
  entry: {
    index: "src/index.ts",
    cron: "src/cron.ts",
    store: "src/store.ts",
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
