import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { architecturePage, importsOf, type Source, sources } from "./sources.ts"

/** The folders of core that each folder of core may import. A folder stands below the folders that it imports. */
const CORE_MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  "errors.ts": [],
  values: ["errors.ts"],
  time: ["errors.ts", "values"],
  cron: ["errors.ts", "values", "time"],
  run: ["errors.ts", "values", "time"],
  schedule: ["errors.ts", "values", "time", "cron", "run"],
  records: ["errors.ts", "values", "time", "run", "schedule"],
  planning: ["errors.ts", "values", "time", "run", "schedule", "records"],
  options: ["errors.ts", "values", "time", "cron", "run", "schedule", "planning"],
}

/** The folder of a path of core: `cron` for `core/cron/parse.ts`. A file directly in core counts as a folder. */
function coreFolderOf(path: string): string {
  return path.split("/")[1]!
}

/** The imports of a file of core that its folder may not have. */
function forbiddenInCore(source: Source): readonly string[] {
  const folder = coreFolderOf(source.path)
  const allowed = [folder, ...(CORE_MAY_IMPORT[folder] ?? [])]
  return importsOf(source).filter((path) => path.startsWith("core/") && !allowed.includes(coreFolderOf(path)))
}

describe("the folders of core", () => {
  const core = sources.filter(({ path }) => path.startsWith("core/"))
  const folders = Object.keys(CORE_MAY_IMPORT)

  test("every file of core imports only folders of core that its folder may import", () => {
    const forbidden = core.flatMap((source) =>
      forbiddenInCore(source).map((path) => `${source.path} imports ${path}`),
    )

    assert.deepEqual(forbidden, [])
  })

  test.each([
    ["core/run/run.ts", "../schedule/schedule.ts", ["core/schedule/schedule.ts"]],
    ["core/planning/fire.ts", "../options/policies.ts", ["core/options/policies.ts"]],
    ["core/planning/fire.ts", "../schedule/schedule.ts", []],
    ["core/planning/fire.ts", "./plan.ts", []],
    ["core/new-folder/x.ts", "../errors.ts", ["core/errors.ts"]],
    ["core/errors.ts", "./values/json.ts", ["core/values/json.ts"]],
  ])("of %s with the import %s, the forbidden imports are %j", (path, specifier, forbidden) => {
    const text = `import type { X } from "${specifier}"`

    assert.deepEqual(forbiddenInCore({ path, text, lines: 1 }), forbidden)
  })

  test("there is no cycle: a folder may import only folders listed above it", () => {
    for (const [index, folder] of folders.entries()) {
      const below = CORE_MAY_IMPORT[folder]!.filter((other) => !folders.slice(0, index).includes(other))

      assert.deepEqual(below, [], folder)
    }
  })

  test("the folders are those of src/core, and architecture.md describes each in the same order", () => {
    const page = architecturePage()
    const described = [...page.matchAll(/^\| `([\w.-]+?)\/?` \| /gm)].map((match) => match[1]!)

    assert.deepEqual(folders.toSorted(), [...new Set(core.map(({ path }) => coreFolderOf(path)))].toSorted())
    assert.deepEqual(described, folders)
  })
})
