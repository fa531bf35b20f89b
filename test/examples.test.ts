import assert from "node:assert/strict"
import { spawn } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, test } from "vitest"

const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** A part of the output of each example that ends without a signal. */
const EXPECTED_OUTPUT: Readonly<Record<string, RegExp>> = {
  "quick-start.ts": /every-second at .+\.000Z\n/,
  "weekday-digest.test.ts": /pass 2\n.*fail 0/,
  "nightly-report-dst.ts": /nightly +03:00 \(2026-03-29T01:00:00\.000Z\)/,
  "backfill.ts": /Planned again: 0 occurrences, 5 left out/,
  "reconcile.ts": /refused +weekly-report: release 2 of "shop" is already stored; this is release 1/,
}

describe.concurrent("examples", () => {
  for (const [file, expected] of Object.entries(EXPECTED_OUTPUT)) {
    test(`${file} prints the expected output and ends with code 0`, async () => {
      const { code, output } = await run(file)

      assert.equal(code, 0, output)
      assert.match(output, expected)
    })
  }

  test("town-clock.ts prints the next occurrence and stops gracefully", async () => {
    const { code, output } = await run("town-clock.ts", { until: /opening +the square is clean/ })

    assert.equal(code, 0, output)
    assert.match(output, /At 14:00 on Saturday, America\/New_York/)
    // In the last minute before an occurrence the example counts down the seconds.
    assert.match(output, /next: (Sat \d+ \w+, 14:00|in \d+ s)/)
    assert.match(output, /What happened\n( {2}\w+ +\d+\n)* {2}succeeded +\d/)
    assert.match(output, /Stopped\.\n$/)
  })
})

test("every example is tested", () => {
  const files = readdirSync(`${ROOT}/examples`).filter((file) => file.endsWith(".ts"))

  assert.deepEqual(files.sort(), [...Object.keys(EXPECTED_OUTPUT), "town-clock.ts"].sort())
})

test("the quick start in README.md equals examples/quick-start.ts", () => {
  const readme = readFileSync(`${ROOT}/README.md`, "utf8")

  assert.ok(readme.includes(`\`\`\`ts\n${readFileSync(`${ROOT}/examples/quick-start.ts`, "utf8")}\`\`\``))
})

/**
 * Runs an example. With `until`, sends it SIGTERM after it has printed that. It is not run by the program `tsx`, because `tsx`
 * kills a child that doesn't react to a signal within 60 ms.
 */
function run(
  file: string,
  { until }: { until?: RegExp } = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", "tsx", `examples/${file}`], { cwd: ROOT })
    let output = ""
    let isSignalled = false
    const collect = (chunk: Buffer) => {
      output += chunk.toString()
      if (isSignalled || until === undefined || !until.test(output)) return
      isSignalled = true
      child.kill("SIGTERM")
    }
    child.stdout.on("data", collect)
    child.stderr.on("data", collect)
    child.on("error", reject)
    child.on("close", (code) => resolve({ code, output }))
  })
}
