import { execFileSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { publint } from "publint"
import { afterAll, beforeAll, expect, test } from "vitest"

const root = join(import.meta.dirname, "..", "..")
const run = (command: string, args: readonly string[], cwd: string) =>
  execFileSync(command, args, { cwd, encoding: "utf8" })

let folder: string
let packed: { filename: string; files: { path: string }[] }

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "belfry-package-"))
  // Removed, so that the package is built from the current sources.
  rmSync(join(root, "dist"), { recursive: true, force: true })
  packed = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", folder], root))[0]
  writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", private: true }))
  // Dependencies come from this repository's node_modules, so the test depends neither on a registry nor on npm's cache.
  const packages = [join(folder, packed.filename), ...neededBy(root)]
  run("npm", ["install", "--no-audit", "--no-fund", "--offline", "--install-links", ...packages], folder)
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

test("the package contains the built files and the documents, and nothing else", () => {
  const others = packed.files
    .map(({ path }) => path)
    .filter((path) => !/^dist\/[\w.-]+\.(js|d\.ts|js\.map|d\.ts\.map)$/.test(path))
    .filter((path) => !/^(docs\/.*\.md|examples\/.*)$/.test(path))

  const documents = ["CHANGELOG.md", "CONTRIBUTING.md", "LICENSE", "README.md", "SECURITY.md", "package.json"]
  expect(others.sort()).toEqual(documents)
})

test("publint finds no fault in the entry points, types and files of the package", async () => {
  const tarball = new Uint8Array(readFileSync(join(folder, packed.filename))).buffer

  expect((await publint({ pack: { tarball } })).messages).toEqual([])
})

test("every file that the README links to is in the package", () => {
  const links = [...readFileSync(join(root, "README.md"), "utf8").matchAll(/\]\((?!https?:)([^)#]+)/g)].map(
    ([, path]) => path!,
  )
  const paths = packed.files.map(({ path }) => path)

  expect(links.length).toBeGreaterThan(10)
  for (const link of links)
    expect(
      paths.some((path) => path === link || path.startsWith(`${link.replace(/\/$/, "")}/`)),
      link,
    ).toBe(true)
})

test("the package installs without scripts, and its SQLite driver has the exact version that was tested", () => {
  const manifest = JSON.parse(
    run("npm", ["pkg", "get", "dependencies", "scripts.install", "scripts.postinstall"], root),
  )

  expect(Object.keys(manifest)).toEqual(["dependencies"])
  expect(Object.keys(manifest.dependencies)).toEqual(["@photostructure/sqlite", "commander", "jiti", "yaml"])
  expect(manifest.dependencies["@photostructure/sqlite"]).toBe("1.2.1")
})

test("the installed command line program works", () => {
  const belfry = join(folder, "node_modules", ".bin", "belfry")

  expect(
    run(
      belfry,
      ["next", "30 2 * * *", "--tz", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "-n", "1", "--json"],
      folder,
    ),
  ).toMatch(/2026-03-29T01:00:00/)
})

test("a program that imports the installed package works", () => {
  writeFileSync(
    join(folder, "program.js"),
    `import { createScheduler, defineTask, memory } from "belfry"
     import { next, parse } from "belfry/cron"
     import { sqlite } from "belfry/sqlite"
     import { LAWS } from "belfry/store"
     import { httpTask } from "belfry/tasks"
     import { createTestScheduler } from "belfry/testing"

     const greet = defineTask({ name: "greet", run: () => "hello" })
     const scheduler = createScheduler({ store: sqlite("./belfry.db"), tasks: [greet] })
     await scheduler.start()
     const { runId } = await scheduler.enqueue(greet)
     while ((await scheduler.runs.get(runId)).state !== "succeeded") await new Promise((resolve) => setImmediate(resolve))
     const run = await scheduler.runs.get(runId)
     await scheduler.stop()

     const test = await createTestScheduler({ tasks: [greet], schedules: [greet.schedule("hourly", { cron: "@hourly" })] })
     await test.advance("1d")
     const count = (await test.runs()).length
     await test.scheduler.stop()

     const at = next(parse("30 2 * * *", { timezone: "Europe/Berlin" }), "2026-03-28T12:00:00Z")
     console.log(JSON.stringify({ details: run.details, count, at, laws: LAWS.length, ready: httpTask().name }))
    `,
  )

  const output = JSON.parse(run(process.execPath, ["program.js"], folder))

  expect(output).toEqual({
    details: "hello",
    count: 24,
    at: "2026-03-29T01:00:00.000Z",
    laws: 12,
    ready: "http",
  })
})

/** The folders of all run-time dependencies of the package in this folder, direct and indirect. */
function neededBy(folder: string): readonly string[] {
  const { dependencies = {} } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))
  const needed = Object.keys(dependencies).map((name) => join(root, "node_modules", name))
  return [...new Set(needed.flatMap((each) => [each, ...neededBy(each)]))]
}
