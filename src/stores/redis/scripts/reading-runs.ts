import type { Run } from "../../../core/run/run.ts"
import type { Connection, Reply } from "../connection.ts"
import { WHOLE_RUNS } from "../lua/whole-runs.ts"
import { fieldsOf, readableRunOf } from "../run-rows.ts"
import { scriptOf, slicesOf } from "../script.ts"

const READ = scriptOf(
  [WHOLE_RUNS],
  `
local found = {}
for _, id in ipairs(ARGV) do
  local run, list = read_all(id)
  if run then
    found[#found + 1] = whole_run(id, run, list)
  end
end
return found
`,
)

export async function readRuns(connection: Connection, ids: readonly string[]): Promise<readonly Run[]> {
  const found: Run[] = []
  for (const slice of slicesOf([...new Set(ids)])) {
    const rows = await connection.run<readonly Reply[]>(READ, slice)
    found.push(...rows.map((row) => readableRunOf(fieldsOf(row))))
  }
  return found
}
