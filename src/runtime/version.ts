import { readFileSync } from "node:fs"

let known: string | null = null

/** Of Belfry. */
export function version(): string {
  known ??= readVersion()
  return known
}

/** From the package's own manifest, which lies one folder up from `dist/` and two from `src/runtime/`. */
function readVersion(): string {
  for (const path of ["../package.json", "../../package.json"]) {
    const manifest = readManifest(new URL(path, import.meta.url))
    if (manifest?.name === "belfry" && manifest.version !== undefined) return manifest.version
  }
  return "unknown"
}

function readManifest(url: URL): { name?: string; version?: string } | null {
  try {
    return JSON.parse(readFileSync(url, "utf8")) as { name?: string; version?: string }
  } catch {
    // Not there: it is the other path.
    return null
  }
}
