import { readFileSync } from "node:fs"

let cached: string | null = null

/** Belfry's version. */
export function version(): string {
  cached ??= readVersion()
  return cached
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
    // The manifest is at the other path.
    return null
  }
}
