/**
 * Runs the fast tests on every Node.js release line that Belfry supports. The binaries come from the package registry, so
 * nothing has to be installed: `npm run test:runtimes`, or `npm run test:runtimes -- 24` for one line.
 */
import { spawnSync } from "node:child_process"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"

const LINES = ["20", "22", "24", "26"]
const CACHE = join(import.meta.dirname, "..", ".cache", "runtimes")

const given = process.argv.slice(2)
const failed = (given.length > 0 ? given : LINES).filter((line) => !passesOn(line))
if (failed.length > 0) {
  console.error(`\nThe suite fails on Node ${failed.join(", ")}.`)
  process.exit(1)
}
console.log(`\nThe suite passes on Node ${(given.length > 0 ? given : LINES).join(", ")}.`)

function passesOn(line: string): boolean {
  const node = nodeOf(line)
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim()
  console.log(`\n— Node ${version}`)
  if (!version.startsWith(`v${line}.`)) return false
  const vitest = join(import.meta.dirname, "..", "node_modules", "vitest", "vitest.mjs")
  return spawnSync(node, [vitest, "run", "--project", "fast*"], { stdio: "inherit" }).status === 0
}

/** The running Node.js if it is of that line, else a binary from the registry. */
function nodeOf(line: string): string {
  if (process.versions.node.startsWith(`${line}.`)) return process.execPath
  const name = `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`
  const folder = join(CACHE, line)
  const binary = join(folder, "node_modules", name, "bin", process.platform === "win32" ? "node.exe" : "node")
  if (!existsSync(binary)) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, "package.json"), "{}")
    const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", `${name}@${line}`]
    spawnSync("npm", install, { cwd: folder, stdio: "inherit", shell: process.platform === "win32" })
  }
  return binary
}
