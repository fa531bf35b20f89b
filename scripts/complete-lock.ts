/**
 * Adds the optional packages of other platforms to package-lock.json. A registry that mirrors only some platforms leaves them
 * out, and `npm ci` then refuses the lock file on every machine. An entry with its platform is enough: npm ignores it on other
 * platforms and looks it up on that platform. Run `npx tsx scripts/complete-lock.ts` after a change of dependencies.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"

interface Entry {
  version?: string
  dev?: boolean
  optional?: boolean
  os?: string[]
  cpu?: string[]
  libc?: string[]
  optionalDependencies?: Record<string, string>
}

const FILE = join(process.cwd(), "package-lock.json")
const lock = JSON.parse(readFileSync(FILE, "utf8")) as { packages: Record<string, Entry> }

let count = 0
for (const [path, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (
      !/^\d/.test(version) ||
      placesFor(path, name).some((place) => lock.packages[place]?.version === version)
    )
      continue
    const free = placesFor(path, name).findLast((place) => lock.packages[place] === undefined)
    if (free === undefined) throw new Error(`${path}: no free location for ${name}@${version}`)
    lock.packages[free] = {
      version,
      ...(entry.dev ? { dev: true } : {}),
      optional: true,
      ...platformOf(name),
    }
    count++
  }
}
const sorted = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
writeFileSync(FILE, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`)
console.log(`${count} packages of other platforms added to package-lock.json`)

/** The locations where npm looks for a dependency: the package's own folder first, then its parent folders. */
function placesFor(path: string, name: string): readonly string[] {
  const parts = path.split(/\/?node_modules\//).filter(Boolean)
  const folders = parts.map((_, index) =>
    parts
      .slice(0, parts.length - index)
      .map((part) => `node_modules/${part}/`)
      .join(""),
  )
  return [...folders, ""].map((folder) => `${folder}node_modules/${name}`)
}

/** The platform is part of the package name: `@biomejs/cli-linux-x64-musl`. */
function platformOf(name: string): Pick<Entry, "os" | "cpu" | "libc"> {
  const words = name.split(/[/-]/)
  const os = [
    "android",
    "darwin",
    "freebsd",
    "linux",
    "netbsd",
    "openbsd",
    "openharmony",
    "sunos",
    "win32",
    "aix",
  ]
  const cpu = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"]
  const found = {
    os: os.filter((word) => words.includes(word)),
    cpu: cpu.filter((word) => words.includes(word)),
  }
  if (found.os.length + found.cpu.length === 0)
    throw new Error(`${name}: no platform in its name; add it by hand`)
  return {
    ...(found.os.length > 0 ? { os: found.os } : {}),
    ...(found.cpu.length > 0 ? { cpu: found.cpu } : {}),
    ...(words.includes("musl") ? { libc: ["musl"] } : {}),
  }
}
