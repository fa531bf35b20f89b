import { readFileSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import type { Verdict } from "./figures.ts"

/** The versions of Belfry and of the peers in `programs`, the server, and the load of the machine. */
export function aboutRun(
  programs: Readonly<Record<string, string>>,
  server: string,
  isQuick: boolean,
): string {
  const versions = Object.entries(programs).map(([name, folder]) => `${name} ${versionIn(folder)}`)
  const load = loadavg()[0]!.toFixed(1)
  return [
    [`Belfry ${versionIn("..")}`, ...versions, `Node ${process.versions.node}`].join(", "),
    server,
    `${availableParallelism()} processors, load ${load}${isQuick ? "; quick, so the figures are rough" : ""}`,
  ].join("\n")
}

/** The version of the package in a folder, relative to `bench/`. */
function versionIn(folder: string): string {
  const file = new URL(`../${folder}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(file, "utf8")).version
}

export function printVerdicts(verdicts: readonly Verdict[]): void {
  console.log("\nTargets")
  console.table(
    Object.fromEntries(
      verdicts.map(({ measure, target, measured, isMet }) => [
        measure,
        { target, measured, met: isMet ? "yes" : "NO" },
      ]),
    ),
  )
}
