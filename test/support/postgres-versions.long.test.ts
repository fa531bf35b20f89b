import assert from "node:assert/strict"
import { test } from "vitest"
import { query, startPostgres } from "./postgres.ts"

for (const version of [13, 18]) {
  test(`PostgreSQL ${version} can be fetched and started`, async ({ skip }) => {
    skip(
      version < 15 && `${process.platform}-${process.arch}` !== "linux-x64",
      "This version exists for one platform only",
    )
    const postgres = await startPostgres({ version })

    try {
      const [row] = await query<{ server_version: string }>(postgres.url, "show server_version")
      assert.match(row!.server_version, new RegExp(`^${version}\\.`))
    } finally {
      await postgres.stop()
    }
  })
}
