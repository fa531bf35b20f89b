import type { Connection } from "./connection.ts"
import { KEYS } from "./lua/keys.ts"
import { SCHEMA } from "./opening.ts"
import { scriptOf } from "./script.ts"

/** No process has seen a version that is higher by this much than what another one has seen. */
const LEAP = 1_000_000

// Arguments: the schema; the mark and the version that the process has seen, or nothing; a mark to set if need be.
// Answers the mark and the version. Whoever finds that the server went back sets another mark, so that the others learn of it
// though the version has leapt above what they have seen: it must not be given out twice.
const LOOK = scriptOf(
  KEYS,
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
 * What this process has seen of the server, which tells whether the server still knows it. One that was restarted without its
 * data, restored from an old copy, or replaced by a replica that was behind goes on as if nothing had happened.
 */
export class LossDetector {
  readonly #connection: Connection
  readonly #onForgotten: () => void
  #mark = ""
  #version = 0
  #looking: Promise<void> | null = null

  constructor(connection: Connection, onForgotten: () => void) {
    this.#connection = connection
    this.#onForgotten = onForgotten
  }

  /** One look at a time; who asks meanwhile is answered by it. */
  look(): Promise<void> {
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  /** Where somebody looks in passing. If it fails the server is away again, and is looked at when it is back. */
  readonly glance = (): void => {
    this.look().catch(() => undefined)
  }

  /** What an answer carries. If it doesn't fit, a look decides: answers may overtake one another. */
  compare(mark: string | null, version: number): void {
    if (mark !== this.#mark || version < this.#version) this.glance()
    else this.saw(version)
  }

  /** The server's counter was at least here. Who counts on from it takes what was seen before the change was sent. */
  get version(): number {
    return this.#version
  }

  saw(version: number): void {
    this.#version = Math.max(this.#version, version)
  }

  async #look(): Promise<void> {
    const seen = this.#mark
    const args = [SCHEMA, seen, this.#version, this.#connection.chance().toString(36)]
    const [mark, version] = await this.#connection.run<readonly [string, number]>(LOOK, args)
    this.#mark = mark
    this.saw(version)
    if (seen !== "" && mark !== seen) this.#onForgotten()
  }
}
