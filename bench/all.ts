/**
 * Runs the benchmarks: all of them, or those named. `npm run bench`, `npm run bench -- postgres --quick`.
 * What they need and Belfry doesn't is fetched first: the peers into bench/node_modules, and a Node they run on.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const BENCHES = ["cron", "store-calls", "reads", "sqlite", "postgres", "redis", "locks"]
/** graphile-worker asks for 22.18, and the benchmarks themselves for `await using`. Everybody runs on the same. */
const NODE_LINE = "24"
const FOLDER = import.meta.dirname

const flags = process.argv.slice(2).filter((word) => word.startsWith("-"))
const named = process.argv.slice(2).filter((word) => !word.startsWith("-"))
const unknown = named.filter((name) => !BENCHES.includes(name))
if (unknown.length > 0) throw new Error(`${unknown} is not among ${BENCHES.join(", ")}`)

const asked = named.length > 0 ? named : BENCHES
if (!existsSync(join(FOLDER, "node_modules"))) npm(["ci", "--ignore-scripts"], FOLDER)
const node = suitableNode()
for (const name of asked) {
  console.log(`\n— ${name}`)
  run(node, ["--import", "tsx", join(FOLDER, `${name}.ts`), ...flags], join(FOLDER, ".."))
}

/** The running one if it will do, else one from the registry, kept where `scripts/test-runtimes.ts` keeps them. */
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
