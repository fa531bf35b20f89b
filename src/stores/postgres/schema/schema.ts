import { ADD } from "./add.ts"
import { CHANGE } from "./change.ts"
import { CLAIM } from "./claim.ts"
import { DUE } from "./due.ts"
import { EXTEND } from "./extend.ts"
import { SQL_FACE } from "./face.ts"
import { FIRE } from "./fire.ts"
import { PRUNE } from "./prune.ts"
import { TABLES } from "./tables.ts"

/** The newest migration as its sources make it. `scripts/freeze-migration.ts` writes it to `../migrations/`. */
export const NEWEST_MIGRATION = [TABLES, DUE, FIRE, ADD, CLAIM, EXTEND, CHANGE, PRUNE, SQL_FACE].join("\n")
