import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const TSX = fileURLToPath(import.meta.resolve("tsx/cli"))
const COUNTER = fileURLToPath(new URL("./counter.ts", import.meta.url))

export interface Turn {
  readonly count: number
  readonly fence: number
}

/** A process of its own that reads, adds and writes a count in a file, twenty times under the lock. */
export async function inAnotherProcess(
  kind: "sqlite" | "postgres" | "redis",
  where: string,
  file: string,
  prefix = "belfry",
): Promise<readonly Turn[]> {
  const { stdout } = await promisify(execFile)(process.execPath, [TSX, COUNTER, kind, where, file, prefix])
  return JSON.parse(stdout) as readonly Turn[]
}
