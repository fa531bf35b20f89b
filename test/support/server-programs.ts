import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { delimiter, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Finds the programs of servers, and installs those that the machine lacks. */

export const run = promisify(execFile)

export function findProgram(name: string, folders = foldersOnPath()): string | null {
  const folder = folders.find((each) => existsSync(join(each, name)))
  return folder === undefined ? null : join(folder, name)
}

/** Includes the sbin folders, which often aren't on the PATH of users other than root. */
export function foldersOnPath(): readonly string[] {
  return [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/sbin", "/usr/sbin"]
}

export interface ServerUser {
  readonly uid: number
  readonly gid: number
}

/** Another user than root, for servers that refuse to run as root. Null: the tests don't run as root. */
export function notRoot(): ServerUser | null {
  if (process.getuid?.() !== 0) return null
  const users = readFileSync("/etc/passwd", "utf8")
    .split("\n")
    .map((line) => line.split(":"))
  const named = (wanted: string) => users.find(([name]) => name === wanted)
  const [, , uid, gid] = named("postgres") ?? named("nobody")!
  return { uid: Number(uid), gid: Number(gid) }
}

/** A minimal environment, without variables such as PGPORT and the locale. */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], LC_ALL: "C", TZ: "UTC" }
}

/** Needs root and apt-get. */
export function canInstallPackages(): boolean {
  return process.getuid?.() === 0 && findProgram("apt-get") !== null
}

export async function installPackages(...packages: readonly string[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", UCF_FORCE_CONFFOLD: "1" }
  await run("flock", ["/run/lock/belfry-test-packages", "sh", "-c", INSTALL, "sh", ...packages], { env })
}

// The files made by `hold` exist only during the installation, and only if the machine has none of its own: with them no service
// is started, and PostgreSQL's package creates no cluster. Missing or old package lists are fetched.
const INSTALL = `set -eu
held=""
trap 'rm -f $held' EXIT
hold() {
  [ ! -e "$1" ] || return 0
  mkdir -p "$(dirname "$1")"
  held="$held $1"
  printf "$2" > "$1"
  chmod 755 "$1"
}
hold /usr/sbin/policy-rc.d '#!/bin/sh\\nexit 101\\n'
hold /etc/postgresql-common/createcluster.conf 'create_main_cluster = false\\n'
get() { apt-get -qq -o DPkg::Lock::Timeout=300 "$@"; }
get install -y --no-install-recommends "$@" || { get update && get install -y --no-install-recommends "$@"; }`

/**
 * The folder of a package from the registry, given as name@version. It is kept in a cache, apart from the project's own
 * packages, and renamed into place when complete, so that several processes can fetch it at once.
 */
export async function cachedPackage(cacheName: string, wanted: string): Promise<string> {
  const folder = fileURLToPath(new URL(`../../node_modules/.cache/${cacheName}`, import.meta.url))
  const found = join(folder, "node_modules", wanted.slice(0, wanted.lastIndexOf("@")))
  if (existsSync(found)) return found
  const draft = `${folder}-${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    writeFileSync(join(draft, "package.json"), "{}")
    const install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", wanted]
    await run("npm", install, { cwd: draft })
    if (!existsSync(folder)) renameSync(draft, folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return found
}
