import assert from "node:assert/strict"
import { describe, test } from "vitest"
import { hasBrokenPassword, masked, placeOf } from "./address.ts"

const CASES: readonly (readonly [address: string, shown: string, place: string | null, isBroken: boolean])[] =
  [
    ["postgres://bob:secret@db/shop", "postgres://bob:***@db/shop", "db/shop", false],
    ["postgres://bob:se%40cret@db/shop", "postgres://bob:***@db/shop", "db/shop", false],
    ["postgres://bob:se@cret@db/shop", "postgres://bob:***@db/shop", "db/shop", false],
    ["postgres://bob:s@cr/et@db:5433/shop", "postgres://bob:***@db:5433/shop", "db:5433/shop", true],
    ["postgres://bob:12/cret@db/shop", "postgres://bob:***@db/shop", "db/shop", true],
    ["postgres://bob:se#cret@db/shop", "postgres://bob:***@db/shop", "db/shop", true],
    ["postgres://bob:se?cret@db/shop", "postgres://bob:***@db/shop", "db/shop", true],
    ["postgres://bob:se\ncret@db/shop", "postgres://bob:***@db/shop", "db/shop", false],
    ["postgres://bob:a:b@db/shop", "postgres://bob:***@db/shop", "db/shop", false],
    ["postgres://bob@db/shop", "postgres://bob@db/shop", "db/shop", false],
    ["postgres://db/shop", "postgres://db/shop", "db/shop", false],
    [
      "postgres://db/shop?password=secret&user=bob",
      "postgres://db/shop?password=***&user=bob",
      "db/shop",
      false,
    ],
    ["postgres://db/shop?sslpassword=secret", "postgres://db/shop?sslpassword=***", "db/shop", false],
    ["redis://:se/cret@h:6379/0", "redis://:***@h:6379/0", "h:6379/0", true],
    ["redis://h:6379/", "redis://h:6379/", "h:6379", false],
    ["postgres:bob:se@cret@db", "postgres:***@db", null, false],
    ["bob:se@cret@db", "bob:***@db", null, false],
    ["data@home/belfry.db", "data@home/belfry.db", null, false],
    ["belfry.db", "belfry.db", null, false],
    ["/var/lib/belfry.db", "/var/lib/belfry.db", null, false],
  ]

describe("store addresses", () => {
  test.each(CASES)("the address %j is shown without its password", (address, shown, place, isBroken) => {
    assert.equal(masked(address), shown)
    assert.equal(placeOf(address), place)
    assert.equal(hasBrokenPassword(address), isBroken)
  })
})
