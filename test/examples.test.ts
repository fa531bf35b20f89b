import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, test } from "vitest"

const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** What each example prints when it has done what it shows. */
const ENDING_BY_THEMSELVES: Readonly<Record<string, RegExp>> = {
  "quick-start.ts": /every-second at .+\.000Z\n/,
  "weekday-digest.test.ts": /pass 2\n.*fail 0/,
  "nightly-report-dst.ts": /nightly +03:00 \(2026-03-29T01:00:00\.000Z\)/,
  "backfill.ts": /Planned again: 0 occurrences, 5 left out/,
  "reconcile.ts": /refused +weekly-report: release 2 of "shop" is already there; this is 1/,
}

describe.concurrent("each example runs", () => {
  for (const [file, expected] of Object.entries(ENDING_BY_THEMSELVES)) {
    test(`${file} does what it shows and ends by itself`, async () => {
      const { code, output } = await run(file)

      assert.equal(code, 0, output)
      assert.match(output, expected)
    })
  }

  test("town-clock.ts says what comes next, and stops gracefully", async () => {
    const { code, output } = await run("town-clock.ts", { until: /opening +the square is clean/ })

    assert.equal(code, 0, output)
    assert.match(output, /At 14:00 on Saturday, America\/New_York/)
    // In the last minute before that, the seconds are counted down.
    assert.match(output, /next: (Sat \d+ \w+, 14:00|in \d+ s)/)
    assert.match(output, /What happened\n( {2}\w+ +\d+\n)* {2}succeeded +\d/)
    assert.match(output, /Stopped\.\n$/)
  })
})

test("no example is left out", () => {
  const files = readdirSync(`${ROOT}/examples`).filter((file) => file.endsWith(".ts"))

  assert.deepEqual(files.sort(), [...Object.keys(ENDING_BY_THEMSELVES), "town-clock.ts"].sort())
})

test("the README's quick start is the example", () => {
  const readme = readFileSync(`${ROOT}/README.md`, "utf8")

  assert.ok(readme.includes(`\`\`\`ts\n${readFileSync(`${ROOT}/examples/quick-start.ts`, "utf8")}\`\`\``))
})

/**
 * Runs an example; with `until`, asks it to stop once it has printed that. Not by the program `tsx`, which kills what
 * doesn't answer a signal within 60 ms.
 */
function run(
  file: string,
  { until }: { until?: RegExp } = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", "tsx", `examples/${file}`], { cwd: ROOT })
    let output = ""
    let isAsked = false
    const gather = (chunk: Buffer) => {
      output += chunk.toString()
      if (isAsked || until === undefined || !until.test(output)) return
      isAsked = true
      child.kill("SIGTERM")
    }
    child.stdout.on("data", gather)
    child.stderr.on("data", gather)
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, output }))
  })
}
