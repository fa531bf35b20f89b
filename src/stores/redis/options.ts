import type { OptionType } from "../../core/options/checked.ts"
import { callback, objectWith, text } from "../../core/options/option-types.ts"
import { addressOr } from "../kit/options.ts"
import type { RedisClient } from "./client.ts"
import type { LockClient } from "./locks.ts"

export interface RedisStoreOptions extends RedisLocksOptions {
  /** Called with a warning if a setting of the server cannot be checked. Default: `process.emitWarning`. */
  readonly onWarning?: (message: string) => void
}

export interface RedisLocksOptions {
  /**
   * Belfry's keys begin with it, in braces. Default: the `prefix` of the address (`redis://localhost/0?prefix=shop`), else
   * `belfry`. Each prefix is a separate store and a separate set of locks.
   */
  readonly prefix?: string
}

export const REDIS_ADDRESS_OR_CLIENT = addressOr(
  objectWith<RedisClient>(["call", "duplicate", "on", "subscribe"], "an ioredis client"),
)
export const REDIS_ADDRESS_OR_LOCK_CLIENT = addressOr(
  objectWith<LockClient>(["call", "on"], "an ioredis client"),
)

export const REDIS_LOCKS_OPTIONS = {
  prefix: text({ min: 1, max: 102 }),
} satisfies Record<keyof RedisLocksOptions, OptionType<unknown>>

export const REDIS_STORE_OPTIONS = {
  ...REDIS_LOCKS_OPTIONS,
  onWarning: callback<(message: string) => void>(),
} satisfies Record<keyof RedisStoreOptions, OptionType<unknown>>
