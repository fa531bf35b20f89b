/** Generates the table of options in `docs/reference/api.md` from the code: `npx tsx scripts/option-reference.ts`. */
import { readFileSync, writeFileSync } from "node:fs"
import { optionRows } from "../test/support/option-rows.ts"

const path = new URL("../docs/reference/api.md", import.meta.url)
const page = readFileSync(path, "utf8")
const HEAD = "| Function | Option | May be |\n| --- | --- | --- |\n"
const [before] = page.split(HEAD)
const after = page.slice(before!.length + HEAD.length).replace(/^(\|.*\n)+/, "")
writeFileSync(path, `${before}${HEAD}${optionRows().join("\n")}\n${after}`)
