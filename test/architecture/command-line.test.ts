import assert from "node:assert/strict"
import { dirname, join, relative } from "node:path"
import { describe, test } from "vitest"
import { type Source, SRC, sources } from "./sources.ts"

describe("the command line", () => {
  /** Functions of what a `Client` returns. A client of a server has them, too. */
  const OF_VIEWS = [
    "listing",
    "online-workers",
    "schedules/apply-steps",
    "schedules/view-options",
    "views",
  ].map((name) => `scheduler/${name}.ts`)
  /** These make a scheduler on a store. */
  const WITH_SCHEDULER = ["cli/session/session.ts", "cli/perform/start.ts"]

  /** The files from which a file imports more than types. */
  function valueImportsOf(source: Source): readonly string[] {
    const statements = [...source.text.matchAll(/^import \{([^}]*)\} from "([^"]+)"/gm)]
    const withValues = statements.filter(([, names]) =>
      names!.split(",").some((name) => name.trim() !== "" && !name.trim().startsWith("type ")),
    )
    return withValues.map(([, , path]) => relative(SRC, join(SRC, dirname(source.path), path!)))
  }

  test("calls a Client, and otherwise only functions of its results", () => {
    const found = sources
      .filter(({ path }) => path.startsWith("cli/") && !WITH_SCHEDULER.includes(path))
      .flatMap((source) => valueImportsOf(source).map((path) => ({ from: source.path, path })))

    const others = found.filter(({ path }) => path.startsWith("scheduler/") && !OF_VIEWS.includes(path))

    assert.ok(found.length > 100, `only ${found.length} imports were found`)
    assert.deepEqual(others, [])
  })
})
