import assert from "node:assert/strict"
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test, vi } from "vitest"
import { startRedis } from "../../support/redis.ts"

/** Runs every TypeScript block of the guide as a program. Only the server's address is changed. */

const GUIDE = readFileSync(new URL("../../../docs/guides/locks.md", import.meta.url), "utf8")
const BLOCKS = [...GUIDE.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1]!)
const FOLDER = fileURLToPath(new URL("../../../.cache/locks-guide", import.meta.url))

afterAll(() => rmSync(FOLDER, { recursive: true, force: true }))

/** The lines that the block prints. */
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

test("the guide's programs print what the guide shows", async () => {
  const server = await startRedis()
  try {
    assert.equal(BLOCKS.length, 3)
    expect(await printed(0, server.url)).toEqual([expect.stringMatching(/^sent under fence \d+$/)])
    // The program prints whether time is left, so no time may pass.
    vi.useFakeTimers({ toFake: ["performance"] })
    assert.deepEqual(await printed(1, server.url), ["1 true false", "released in time: true"])
    vi.useRealTimers()
    const broken = await printed(2, server.url)
    assert.deepEqual(broken, [
      "Rising: The fence rises across backends that are closed and opened again",
      "Open: Closing releases no locks, and may be repeated",
    ])
  } finally {
    vi.useRealTimers()
    await server.stop()
  }
})
