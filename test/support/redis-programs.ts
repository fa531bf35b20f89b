import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { canInstallPackages, findProgram, installPackages, run } from "./server-programs.ts"

/** How to run a server: the program, and the arguments before the server's own. */
export interface RedisProgram {
  readonly program: string
  readonly args: readonly string[]
}

/** The machine's Redis or Valkey. If it has neither, Redis is installed. */
export async function redisProgram(): Promise<RedisProgram> {
  const found = findProgram("redis-server") ?? findProgram("valkey-server")
  if (found !== null) return { program: found, args: [] }
  const remedy = 'Install it, or run what needs no server: npx vitest run --project "fast*"'
  if (!canInstallPackages()) throw new Error(`Redis is not on this machine. ${remedy}`)
  await installPackages("redis-server")
  return { program: findProgram("redis-server")!, args: [] }
}

/** The machine's Valkey. If it has none, the distribution's, unpacked into the project's cache and not installed. */
export async function valkeyProgram(): Promise<RedisProgram> {
  const found = findProgram("valkey-server")
  if (found !== null) return { program: found, args: [] }
  try {
    return unpacked(await fetchedValkey())
  } catch (cause) {
    const remedy = "Install it, or run the other projects: npx vitest run --project redis"
    throw new Error(`Valkey is not on this machine and can't be fetched from its packages. ${remedy}`, {
      cause,
    })
  }
}

/** Runs the program with the libraries from its packages, because the machine may lack them. */
function unpacked(folder: string): RedisProgram {
  const libraries = readdirSync(join(folder, "usr", "lib")).map((name) => join(folder, "usr", "lib", name))
  const program = join(folder, "usr", "bin", "valkey-server")
  return { program: "/usr/bin/env", args: [`LD_LIBRARY_PATH=${libraries.join(":")}`, program] }
}

/** Renamed into place when complete, so that several processes can fetch it at once. */
async function fetchedValkey(): Promise<string> {
  const folder = fileURLToPath(new URL("../../node_modules/.cache/belfry-valkey", import.meta.url))
  if (existsSync(folder)) return folder
  const draft = `${folder}-${process.pid}`
  try {
    mkdirSync(draft, { recursive: true })
    await run("sh", ["-c", FETCH, "sh", "valkey-server", "valkey-tools", ...LIBRARIES], { cwd: draft })
    if (!existsSync(folder)) renameSync(join(draft, "unpacked"), folder)
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return folder
}

/** Libraries that Valkey needs and a minimal Debian lacks. */
const LIBRARIES = ["libatomic1", "libjemalloc2", "liblzf1"]

// Uses package lists of its own, from the machine's package sources and their backports: Debian 12 has Valkey only in its
// backports. Changes nothing on the machine, so it needs no root.
const FETCH = `set -eu
. /etc/os-release
mkdir -p lists/partial cache/archives/partial sources unpacked
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*; do
  [ -f "$file" ] && grep -Eq "[ :]$VERSION_CODENAME( |$)" "$file" || continue
  sed -E -e "s/^(Suites:.* )$VERSION_CODENAME( |$)/\\\\1$VERSION_CODENAME $VERSION_CODENAME-backports\\\\2/" \\
    -e "s/^(deb .* )$VERSION_CODENAME( .*)/&\\\\n\\\\1$VERSION_CODENAME-backports\\\\2/" "$file" > "sources/$(basename "$file")"
done
get() {
  apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$PWD/sources" \\
    -o Dir::State::Lists="$PWD/lists" -o Dir::Cache="$PWD/cache" -o APT::Sandbox::User="" "$@"
}
get update
get download "$@"
for file in *.deb; do dpkg-deb -x "$file" unpacked; done`
