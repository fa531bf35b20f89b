import { existsSync } from "node:fs"
import { join } from "node:path"
import { EXIT } from "../exit-codes.ts"
import { writeNewFile } from "../files/written-file.ts"
import type { Call } from "../parsing/command.ts"
import { hint } from "../printing/output.ts"
import { Refusal } from "../refusal.ts"

const SOURCES = { tasks: "belfry", config: "belfry/config" }

/** A configuration to begin with. What is there already is never written over. */
export async function init(call: Call): Promise<undefined> {
  const { io } = call
  const there = ["ts", "mjs", "js", "json", "yaml"]
    .map((ending) => `belfry.config.${ending}`)
    .find((name) => existsSync(join(io.cwd, name)))
  if (there !== undefined)
    throw new Refusal(EXIT.conflict, `${there} is there already.`, "Change it, or begin in another folder.")
  const name = existsSync(join(io.cwd, "tsconfig.json")) ? "belfry.config.ts" : "belfry.config.mjs"
  if (call.flags.isOn("dryRun")) {
    io.out(TEXT)
    hint(call, `Would write ${name}. Nothing was changed.`)
    return undefined
  }
  writeNewFile(join(io.cwd, name), TEXT)
  io.out(`${name}\n`)
  hint(call, "A task and a schedule to begin with. Look at it, then: belfry start")
  return undefined
}

const TEXT = [
  `import { defineTask } from ${JSON.stringify(SOURCES.tasks)}`,
  `import { defineConfig } from ${JSON.stringify(SOURCES.config)}`,
  "",
  "const greet = defineTask({",
  '  name: "greet",',
  "  run: ({ log }) => {",
  '    log.info("Hello")',
  "  },",
  "})",
  "",
  "export default defineConfig({",
  '  store: "./belfry.db",',
  "  tasks: [greet],",
  '  schedules: [greet.schedule("greet-every-minute", { cron: "* * * * *" })],',
  "})",
  "",
].join("\n")
