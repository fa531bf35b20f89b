/**
 * Runs all benchmarks, or the named ones: `npm run bench`, `npm run bench -- postgres --quick`.
 * First installs what only benchmarks need: the peers into bench/node_modules, and a version of Node that all of them run on.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const BENCHES = ["cron", "store-calls", "reads", "sqlite", "postgres", "redis", "locks"]
/** graphile-worker needs 22.18, and the benchmarks need `await using`. All programs run on the same version. */
const NODE_LINE = "24"
const FOLDER = import.meta.dirname

const flags = process.argv.slice(2).filter((word) => word.startsWith("-"))
const named = process.argv.slice(2).filter((word) => !word.startsWith("-"))
const unknown = named.filter((name) => !BENCHES.includes(name))
if (unknown.length > 0) throw new Error(`${unknown} is not a benchmark; use ${BENCHES.join(", ")}`)

const chosen = named.length > 0 ? named : BENCHES
if (!existsSync(join(FOLDER, "node_modules"))) npm(["ci", "--ignore-scripts"], FOLDER)
const node = suitableNode()
for (const name of chosen) {
  console.log(`\n— ${name}`)
  run(node, ["--import", "tsx", join(FOLDER, `${name}.ts`), ...flags], join(FOLDER, ".."))
}

/** The running Node if it is new enough, else one from the npm registry, in the cache of `scripts/test-runtimes.ts`. */
function suitableNode(): string {
  if (Number.parseInt(process.versions.node, 10) >= Number(NODE_LINE)) return process.execPath
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`
  const folder = join(FOLDER, "..", ".cache", "runtimes", NODE_LINE)
  const found = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node")
  if (!existsSync(found)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "package.json"), "{}")
    npm(["install", "--ignore-scripts", `${name}@${NODE_LINE}`], folder)
  }
  return found
}

function npm(args: readonly string[], cwd: string): void {
  run("npm", [...args, "--no-audit", "--no-fund"], cwd)
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, error } = spawnSync(program, args, {
    cwd,
    stdio: "inherit",
    shell: process.platform === "win32" && program === "npm",
  })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
