import { assertHold, assertOwner, type LockBackend } from "../../lock/backend.ts"
import { LockConnection } from "../../lock/lock-connection.ts"
import type { Timers } from "../kit/timers.ts"
import type { RedisClient, RedisOptions } from "./client.ts"
import { Connection } from "./connection.ts"
import { refusalOf } from "./faults.ts"
import { examineDatabase, examineNumbers } from "./opening.ts"
import { luaPiece, type Script, scriptOf } from "./script.ts"

// A held lock is one key with an expiry; its value is the fence, a space and the token.
const FENCE_OF = luaPiece(
  [],
  `
local function fence_of(value, token)
  local fence, owner = string.match(value or '', '^(%d+) (.*)$')
  if owner == token then return tonumber(fence) end
  return nil
end`,
)

const ACQUIRE = scriptOf(
  [FENCE_OF],
  `
local value = redis.call('get', KEYS[1])
local fence = fence_of(value, ARGV[1])
if value and not fence then return {0, redis.call('pttl', KEYS[1])} end
if not fence then
  fence = redis.call('incr', KEYS[2])
  -- A server that lost its data continues from its clock in milliseconds. That is above all earlier fences, unless there were
  -- more than a thousand a second.
  if fence == 1 then
    local now = redis.call('time')
    fence = now[1] * 1000 + math.floor(now[2] / 1000)
    redis.call('set', KEYS[2], string.format('%.0f', fence))
  end
end
-- tostring() would write a large fence as 1e+14.
redis.call('set', KEYS[1], string.format('%.0f', fence) .. ' ' .. ARGV[1], 'px', ARGV[2])
return {1, fence}`,
)

const EXTEND = scriptOf(
  [FENCE_OF],
  `
if not fence_of(redis.call('get', KEYS[1]), ARGV[1]) then return 0 end
return redis.call('pexpire', KEYS[1], ARGV[2])`,
)

const RELEASE = scriptOf(
  [FENCE_OF],
  `
if not fence_of(redis.call('get', KEYS[1]), ARGV[1]) then return 0 end
return redis.call('del', KEYS[1])`,
)

/** The part of ioredis that locks use. */
export interface LockClient extends Pick<RedisClient, "call" | "disconnect" | "options"> {
  on(event: "error", listener: (error: Error) => void): unknown
  off(event: "error", listener: (error: Error) => void): unknown
}

interface Opened {
  readonly client: LockClient
  readonly isOwned: boolean
  readonly connection: Connection
}

/** Each call is one script, which Redis runs atomically and by its own clock. */
export function createRedisLocks(
  makeClient: () => Promise<{ client: LockClient; isOwned: boolean }>,
  options: RedisOptions,
  timers: Timers,
): LockBackend {
  const open = () => openConnection(makeClient, options, timers)
  const lockConnection = new LockConnection<Opened>({ where: options.where, open, close: disconnect }, timers)
  const run = (script: Script, name: string, args: readonly (string | number)[]) =>
    lockConnection.use(({ connection }) => evaluate(connection, script, keysOf(options.prefix, name), args))
  return {
    open: () => lockConnection.open(),
    close: () => lockConnection.close(),
    async acquire(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      const [isAcquired, value] = (await run(ACQUIRE, name, [token, ttlMs])) as [number, number]
      return isAcquired === 1
        ? { outcome: "acquired", fence: value }
        : { outcome: "held", forMs: Math.max(0, value) }
    },
    async extend(name, token, ttlMs) {
      assertHold(name, token, ttlMs)
      return (await run(EXTEND, name, [token, ttlMs])) === 1
    },
    async release(name, token) {
      assertOwner(name, token)
      return (await run(RELEASE, name, [token])) === 1
    },
  }
}

/** All names share one fence counter, so the fences of each name rise too. The counter never expires. */
function keysOf(prefix: string, name: string): readonly [string, string] {
  return [`${prefix}:locks:${name}`, `${prefix}:fences`]
}

async function evaluate(
  connection: Connection,
  { sha, text }: Script,
  keys: readonly [string, string],
  args: readonly (string | number)[],
): Promise<unknown> {
  try {
    return await connection.command("evalsha", sha, keys.length, ...keys, ...args)
  } catch (error) {
    if (refusalOf((error as Error).cause) !== "NOSCRIPT") throw error
    // The server is new or restarted, or its scripts were flushed. EVAL runs the script and caches it.
    return connection.command("eval", text, keys.length, ...keys, ...args)
  }
}

async function openConnection(
  makeClient: () => Promise<{ client: LockClient; isOwned: boolean }>,
  options: RedisOptions,
  timers: Timers,
): Promise<Opened> {
  const { client, isOwned } = await makeClient()
  // Connection uses only `call` and `disconnect` of a client.
  const connection = new Connection(client as RedisClient, isOwned, options, timers)
  client.on("error", connection.onError)
  try {
    await connection.command("ping")
    await examineDatabase(connection, client)
    await examineNumbers(connection, options)
  } catch (error) {
    disconnect({ client, isOwned, connection })
    throw error
  }
  return { client, isOwned, connection }
}

function disconnect({ client, isOwned, connection }: Opened): void {
  if (isOwned) client.disconnect()
  else client.off("error", connection.onError)
}
