import assert from "node:assert/strict"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test, vi } from "vitest"
import { startRedis } from "../../support/redis.ts"

/** Every TypeScript block of the guide, as it stands there but for the server's address, as a program of its own. */

const GUIDE = readFileSync(new URL("../../../docs/guides/locks.md", import.meta.url), "utf8")
const BLOCKS = [...GUIDE.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!)
const FOLDER = fileURLToPath(new URL("../../../.cache/locks-guide", import.meta.url))

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** What it prints, line by line. */
async function printed(number: number, url: string): Promise<readonly string[]> {
  const lines: string[] = []
  const log = vi.spyOn(console, "log").mockImplementation((...words) => void lines.push(words.join(" ")))
  mkdirSync(FOLDER, { recursive: true })
  const file = join(FOLDER, `block-${number}.ts`)
  writeFileSync(file, BLOCKS[number]!.replace("redis://localhost", url))
  try {
    await import(file)
  } finally {
    log.mockRestore()
  }
  return lines
}

test("the guide's programs print what it says", async () => {
  const server = await startRedis()
  try {
    assert.equal(BLOCKS.length, 3)
    expect(await printed(0, server.url)).toEqual([expect.stringMatching(/^sent under fence \d+$/)])
    // It says how much time is left, so none must pass.
    vi.useFakeTimers({ toFake: ["performance"] })
    assert.deepEqual(await printed(1, server.url), ["1 true false", "released in time: true"])
    vi.useRealTimers()
    const broken = await printed(2, server.url)
    assert.deepEqual(broken, [
      "Rising: The fence rises across backends that are closed and opened again",
      "Open: Closing releases nothing, and may be done twice",
    ])
  } finally {
    vi.useRealTimers()
    await server.stop()
  }
})
