import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, relative } from "node:path"
import { fileURLToPath } from "node:url"

/** The source files as text, for the tests of the rules in docs/internals/architecture.md. */

export const SRC = fileURLToPath(new URL("../../src", import.meta.url))

export interface Source {
  /** From `src/`, such as `core/cron/parse.ts`. */
  readonly path: string
  readonly text: string
  readonly lines: number
}

export const sources: readonly Source[] = readdirSync(SRC, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".ts") && !path.endsWith(".test.ts"))
  .map((path) => {
    const text = readFileSync(join(SRC, path), "utf8")
    return { path, text, lines: text.split("\n").length - 1 }
  })

/** The imports of a file: paths from `src/`, or names of modules. */
export function importsOf({ path, text }: Source): readonly string[] {
  const specifiers = [...text.matchAll(/(?:\bfrom|\bimport|\bimport\()\s*"([^"\s]+)"/g)].map(
    (match) => match[1]!,
  )
  return specifiers.map((specifier) =>
    specifier.startsWith(".") ? relative(SRC, join(SRC, dirname(path), specifier)) : specifier,
  )
}

/** The layer of a path: `core`, `stores/memory`, `engine`. A file directly in `src/` is in the layer `entry`. */
export function layerOf(path: string): string {
  const [first, second] = path.split("/") as [string, string | undefined]
  if (second === undefined) return "entry"
  if (first === "store" && second.startsWith("laws")) return "laws"
  return first === "stores" ? `${first}/${second}` : first
}

/** The code without comments and string contents, which may contain names that code may not use. */
export function codeOf(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, "")
    .replace(/(^|\s)\/\/.*$/gm, "")
    .replace(/"(?:[^"\\\n]|\\.)*"/g, '""')
}

export function offenders(pattern: RegExp, among: readonly Source[], read = codeOf): readonly string[] {
  return among.filter(({ text }) => pattern.test(read(text))).map(({ path }) => path)
}

/** A page of the documentation of the architecture. */
export function architecturePage(): string {
  return readFileSync(join(SRC, "../docs/internals/architecture.md"), "utf8")
}
