import assert from "node:assert/strict"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { describe, test } from "vitest"
import { architecturePage, codeOf, offenders, SRC, sources } from "./sources.ts"

describe("time and random numbers", () => {
  const FORBIDDEN: readonly RegExp[] = [
    /\bDate\.now\b/,
    /\bnew Date\(\s*\)/,
    /\bDate\(\s*\)/,
    /\bsetTimeout\b/,
    /\bsetInterval\b/,
    /\bperformance\b/,
    /\bMath\.random\b/,
    /\brandomUUID\b/,
    /\bprocess\.hrtime\b/,
  ]
  for (const pattern of FORBIDDEN) {
    test(`only runtime/clock.ts uses ${pattern.source.replaceAll(/\\[bs]\*?|\\/g, "")}`, () => {
      const elsewhere = sources.filter(({ path }) => path !== "runtime/clock.ts")

      assert.deepEqual(offenders(pattern, elsewhere), [])
    })
  }

  test("core neither reads the environment nor does input or output", () => {
    const core = sources.filter(({ path }) => path.startsWith("core/"))

    assert.deepEqual(
      offenders(/\bprocess[.[]|\bconsole\b|\bfetch\(|\bsetImmediate\b|\bqueueMicrotask\b/, core),
      [],
    )
  })
})

describe("house style", () => {
  test("no source file contains TODO, FIXME, HACK or XXX", () => {
    assert.deepEqual(
      offenders(/\b(TODO|FIXME|HACK|XXX)\b/, sources, (text) => text),
      [],
    )
  })

  test("no source file has a default export, an enum or a namespace", () => {
    assert.deepEqual(offenders(/\bexport default\b|\bnamespace \w+ \{|\benum \w+ \{/, sources), [])
  })

  test("no source file is longer than 400 lines, and 90% are shorter than 250", () => {
    // Released migrations are never edited.
    const counted = sources.filter(({ path }) => !/^stores\/\w+\/migrations\/\d+\.ts$/.test(path))
    const long = counted.filter(({ lines }) => lines > 400).map(({ path, lines }) => `${path}: ${lines}`)
    const sorted = counted.map(({ lines }) => lines).sort((a, b) => a - b)
    const p90 = sorted[Math.floor(sorted.length * 0.9)]!

    assert.deepEqual(long, [])
    assert.ok(p90 < 250, `the 90th percentile is ${p90} lines`)
  })

  test("no source file or class has a vague name such as utils or Manager", () => {
    const names = sources.map(({ path }) => path.split("/").at(-1)!)

    assert.deepEqual(
      names.filter((name) => /^(utils?|helpers?|common|misc|types)\b/.test(name)),
      [],
    )
    assert.deepEqual(offenders(/\bclass \w*(Manager|Base|Impl|Helper)\b/, sources), [])
  })

  test("every file directly in src is an entry point of the package", () => {
    const { exports, bin } = JSON.parse(readFileSync(join(SRC, "../package.json"), "utf8")) as {
      exports: Record<string, { default: string } | string>
      bin: Record<string, string>
    }
    const published = [...Object.values(exports), ...Object.values(bin)]
      .map((entry) => (typeof entry === "string" ? entry : entry.default))
      .filter((path) => path.endsWith(".js"))
      .map((path) => path.replace("./dist/", "").replace(/js$/, "ts"))

    const inRoot = sources.map(({ path }) => path).filter((path) => !path.includes("/"))

    assert.deepEqual(inRoot.sort(), published.sort())
  })

  test("every file directly in src, except the program, contains only exports of other files", () => {
    const withCode = sources.filter(
      ({ path, text }) =>
        !path.includes("/") &&
        path !== "cli.ts" &&
        codeOf(text)
          .replaceAll(/^export (type )?(\{[^}]*\}|\*) from "";?$/gm, "")
          .trim() !== "",
    )

    assert.deepEqual(
      withCode.map(({ path }) => path),
      [],
    )
  })

  test("every source file that architecture.md names exists", () => {
    const page = architecturePage()

    const named = page.split("\n").flatMap(sourcesNamedIn)
    const missing = named.filter(
      (places) => !sources.some(({ path }) => places.some((place) => place.test(path))),
    )

    assert.ok(named.length > 70, `only ${named.length} names were found`)
    assert.deepEqual(missing, [])
  })

  test("source files are named in kebab-case", () => {
    const odd = sources.filter(
      ({ path }) => !path.split("/").every((part) => /^[a-z0-9-]+(\.ts)?$/.test(part)),
    )

    assert.deepEqual(
      odd.map(({ path }) => path),
      [],
    )
  })
})

/**
 * The files that a line of architecture.md names, each as the places where it may be. A path that doesn't begin with `src/` is
 * in the folder of the last path that does, directly in `src`, or in `src/core`.
 */
function sourcesNamedIn(line: string): readonly (readonly RegExp[])[] {
  let folder = ""
  return [...line.matchAll(/`([\w./*-]+\.ts)`/g)].flatMap(([, name]) => {
    if (/^(test|bench)\//.test(name!)) return []
    const path = name!.replace(/^src\//, "")
    if (path !== name) folder = dirname(path)
    return [[path, join(folder, path), join("core", path)].map(patternOf)]
  })
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll(".", "\\.").replaceAll("*", "[^/]+")}$`)
}
