import type { Connection } from "./connection.ts"
import { KEYS } from "./lua/keys.ts"
import { SCHEMA } from "./opening.ts"
import { scriptOf } from "./script.ts"

/** Larger than any difference between the versions that two processes have seen. */
const LEAP = 1_000_000

// Arguments: the schema; the mark and the version that the process has seen, or '' and 0; a mark to set if needed.
// Returns the mark and the version. If the server went back, the version is raised above all that processes have seen, because
// no version may be given out twice. The other processes then cannot detect the loss by the version, so the mark is changed too.
const CHECK = scriptOf(
  [KEYS],
  `
local schema, versions = prefix .. ':schema', prefix .. ':versions'
local mark, version = call('HGET', schema, 'mark'), tonumber(call('GET', versions) or 0)
local seen = tonumber(ARGV[3])
local is_behind = version < seen
if is_behind then
  version = call('INCRBY', versions, whole(seen - version + ${LEAP}))
end
if not mark or (is_behind and mark == ARGV[2]) then
  mark = ARGV[4]
  call('HSETNX', schema, 'version', ARGV[1])
  call('HSET', schema, 'mark', mark)
end
return { mark, version }
`,
)

/**
 * Detects that the server lost writes: it was restarted without its data, restored from an old copy, or replaced by a replica
 * that was behind. The server does not report this, so it is compared with what this process has seen.
 */
export class LossDetector {
  readonly #connection: Connection
  readonly #onLoss: () => void
  #mark = ""
  #version = 0
  #checking: Promise<void> | null = null

  constructor(connection: Connection, onLoss: () => void) {
    this.#connection = connection
    this.#onLoss = onLoss
  }

  /** Only one check runs at a time. Callers that arrive during a check share its result. */
  check(): Promise<void> {
    this.#checking ??= this.#checkNow().finally(() => {
      this.#checking = null
    })
    return this.#checking
  }

  /** Starts a check without waiting for it. If it fails the server is away, and the next connect starts another. */
  readonly checkSoon = (): void => {
    this.check().catch(() => undefined)
  }

  /** Compares the mark and the version of a reply. Replies may arrive out of order, so a difference only starts a check. */
  compare(mark: string | null, version: number): void {
    if (mark !== this.#mark || version < this.#version) this.checkSoon()
    else this.recordVersion(version)
  }

  /** The highest version seen. A caller that adds its own changes to it must read it before it sends them. */
  get version(): number {
    return this.#version
  }

  recordVersion(version: number): void {
    this.#version = Math.max(this.#version, version)
  }

  async #checkNow(): Promise<void> {
    const markBefore = this.#mark
    const args = [SCHEMA, markBefore, this.#version, this.#connection.random().toString(36)]
    const [mark, version] = await this.#connection.run<readonly [string, number]>(CHECK, args)
    this.#mark = mark
    this.recordVersion(version)
    if (markBefore !== "" && mark !== markBefore) this.#onLoss()
  }
}
