import { readFileSync } from "node:fs"
import { availableParallelism, loadavg } from "node:os"
import type { Verdict } from "./figures.ts"

/** Who was measured, where, and what else the machine does. `programs` are the packages beside Belfry. */
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
    `${availableParallelism()} processors, load ${load}${isQuick ? "; quick, so rough" : ""}`,
  ].join("\n")
}

/** Of the package in a folder, seen from `bench/`. */
function versionIn(folder: string): string {
  const file = new URL(`../${folder}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(file, "utf8")).version
}

export function printVerdicts(verdicts: readonly Verdict[]): void {
  console.log("\nAgainst the targets")
  console.table(
    Object.fromEntries(
      verdicts.map(({ measure, target, measured, isMet }) => [
        measure,
        { target, measured, met: isMet ? "yes" : "NO" },
      ]),
    ),
  )
}
