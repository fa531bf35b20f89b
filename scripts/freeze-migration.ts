/**
 * Writes the newest PostgreSQL migration as plain SQL text, composed from `src/stores/postgres/schema`. Only for a migration
 * that is not released: `npx tsx scripts/freeze-migration.ts`. After a release, a change of the schema needs a new migration.
 * `test/stores/frozen-migrations.test.ts` checks that released migrations don't change.
 */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { MIGRATIONS } from "../src/stores/postgres/migrations.ts"
import { NEWEST_MIGRATION } from "../src/stores/postgres/schema/schema.ts"

const number = String(MIGRATIONS.length).padStart(4, "0")
const path = join(import.meta.dirname, "..", "src", "stores", "postgres", "migrations", `${number}.ts`)
const escaped = NEWEST_MIGRATION.replaceAll("\\", "\\\\").replaceAll("`", "\\`").replaceAll("${", "\\${")
const header =
  "/** Made by scripts/freeze-migration.ts from ../schema/. Never edited by hand, and never again after its release. */\n"
writeFileSync(path, `${header}export const MIGRATION_${MIGRATIONS.length} = \`${escaped}\`\n`)
console.log(`Wrote ${path}`)
