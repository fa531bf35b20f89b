import { postgres } from "belfry/postgres"
import { redis } from "belfry/redis"
import { sqlite } from "belfry/sqlite"
import type { Store } from "belfry/store"

/** The store at the address that a program of a chaos test gets: a URL, or the path of a SQLite file. */
export function storeAt(address: string): Store {
  if (address.startsWith("postgres:")) return postgres({ url: address, connections: 2 })
  if (address.startsWith("redis:")) return redis(address)
  return sqlite(address)
}
