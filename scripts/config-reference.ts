/** Writes docs/reference/configuration.md from the table of settings: `npx tsx scripts/config-reference.ts`. A test keeps it so. */
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { SETTINGS } from "../src/cli/files/config-settings.ts"

export const CONFIG_REFERENCE = fileURLToPath(new URL("../docs/reference/configuration.md", import.meta.url))

const HEAD = `# The configuration

What \`belfry.config.ts\` may say: the file of [the stand-alone program](../guides/standalone.md). Made from the table that the program
checks the file by (\`scripts/config-reference.ts\`); a test keeps it so.

The program reads the first of these in its folder: \`belfry.config.ts\`, \`.mjs\`, \`.js\`, \`.json\`, \`.yaml\`. If there are several it says so.
\`--config FILE\` or \`BELFRY_CONFIG\` name another, \`--no-config\` reads none. A file of code exports the configuration as its
default: \`export default defineConfig({ … })\`, from \`belfry/config\`. A setting that isn't in this table, or of another type, is refused.

\`belfry config explain\` shows each setting, and whether a flag, the environment, the file or the default decided it.
`

export function renderConfigReference(): string {
  const rows = Object.entries(SETTINGS).map(
    ([name, { type, usual, words }]) => `| \`${name}\` | ${type} | ${usual ?? "none"} | ${words} |`,
  )
  return [HEAD, "| Setting | Type | Default | Meaning |", "| --- | --- | --- | --- |", ...rows, ""].join("\n")
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(CONFIG_REFERENCE, renderConfigReference())
