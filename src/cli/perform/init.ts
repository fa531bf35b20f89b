import { existsSync } from "node:fs"
import { join } from "node:path"
import { CliError } from "../cli-error.ts"
import { EXIT } from "../exit-codes.ts"
import { writeNewFile } from "../files/new-file.ts"
import type { Call } from "../parsing/command.ts"
import { hint } from "../printing/output.ts"

const SOURCES = { tasks: "belfry", config: "belfry/config" }

/** Writes a first configuration. Never overwrites an existing file. */
export async function init(call: Call): Promise<undefined> {
  const { io } = call
  const existing = ["ts", "mjs", "js", "json", "yaml"]
    .map((ending) => `belfry.config.${ending}`)
    .find((name) => existsSync(join(io.cwd, name)))
  if (existing !== undefined)
    throw new CliError(EXIT.conflict, `${existing} already exists.`, "Change it, or use another folder.")
  const name = existsSync(join(io.cwd, "tsconfig.json")) ? "belfry.config.ts" : "belfry.config.mjs"
  if (call.flags.isOn("dryRun")) {
    io.out(TEXT)
    hint(call, `Would write ${name}. Nothing was changed.`)
    return undefined
  }
  writeNewFile(join(io.cwd, name), TEXT)
  io.out(`${name}\n`)
  hint(call, "The file has a task and a schedule. Review it, then: belfry start")
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
  "  // The name of this application. Keep it: schedules in the store belong to it.",
  '  owner: "my-app",',
  "  tasks: [greet],",
  '  schedules: [greet.schedule("greet-every-minute", { cron: "* * * * *" })],',
  "})",
  "",
].join("\n")
