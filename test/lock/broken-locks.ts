import { LONG_MS } from "../../src/lock/laws/law.ts"
import type { LockTable } from "../../src/lock/memory.ts"
import type { AcquireAnswer, LockBackend } from "../../src/lock.ts"
import { turn } from "./lab.ts"

/** A backend with one realistic bug, and the law that the bug breaks. */
export interface BrokenLocks {
  readonly law: number
  readonly bug: string
  make(correct: LockBackend, table: LockTable): LockBackend
}

function broken(
  law: number,
  bug: string,
  breakIt: (correct: LockBackend, table: LockTable) => Partial<LockBackend>,
): BrokenLocks {
  return { law, bug, make: (correct, table) => ({ ...correct, ...breakIt(correct, table) }) }
}

/** How much the holds of a table were extended. Shared by all connections of a broken backend. */
const extendedBy = new WeakMap<LockTable, number>()

export const BROKEN_LOCKS: readonly BrokenLocks[] = [
  broken(1, "the check and the take of a lock are two steps", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const isFree = !table.holds.has(name)
      await turn()
      if (isFree) table.holds.delete(name)
      return correct.acquire(name, token, ttlMs)
    },
  })),
  broken(
    1,
    "a lock whose time was up at the check is taken, even if another holder took it since",
    (correct, table) => ({
      async acquire(name, token, ttlMs) {
        const seen = table.holds.get(name)
        await turn()
        if (seen !== undefined && table.holds.get(name) !== seen) table.holds.delete(name)
        return correct.acquire(name, token, ttlMs)
      },
    }),
  ),
  broken(1, "a caller that finds the lock held becomes its owner", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const answer = await correct.acquire(name, token, ttlMs)
      const hold = table.holds.get(name)!
      if (answer.outcome === "held") table.holds.set(name, { ...hold, token })
      return answer
    },
  })),
  broken(1, "there is one lock for all names", (correct) => ({
    acquire: (_, token, ttlMs) => correct.acquire("all", token, ttlMs),
    extend: (_, token, ttlMs) => correct.extend("all", token, ttlMs),
    release: (_, token) => correct.release("all", token),
  })),
  broken(2, "any token extends a lock", (correct, table) => ({
    extend: (name, token, ttlMs) => correct.extend(name, table.holds.get(name)?.token ?? token, ttlMs),
  })),
  broken(2, "any token releases a lock", (correct, table) => ({
    release: (name, token) => correct.release(name, table.holds.get(name)?.token ?? token),
  })),
  broken(2, "a released lock stays held until its time is up", (_, table) => ({
    release: async (name, token) => table.holds.get(name)?.token === token,
  })),
  broken(2, "extending a free lock takes it", (correct, table) => ({
    async extend(name, token, ttlMs) {
      if (!table.holds.has(name)) await correct.acquire(name, token, ttlMs)
      return correct.extend(name, token, ttlMs)
    },
  })),
  broken(2, "an extension returns true and does nothing", (_, table) => ({
    extend: async (name, token) => table.holds.get(name)?.token === token,
  })),
  broken(2, "an extension never shortens a hold", (correct, table) => ({
    async extend(name, token, ttlMs) {
      const before = table.holds.get(name)
      const isExtended = await correct.extend(name, token, ttlMs)
      const after = table.holds.get(name)
      if (isExtended && before!.expiresAt > after!.expiresAt) table.holds.set(name, before!)
      return isExtended
    },
  })),
  broken(3, "a lock is held until it is released", (correct) => ({
    acquire: (name, token) => correct.acquire(name, token, 1_000 * LONG_MS),
  })),
  broken(3, "a late holder without a successor may still extend", (correct, table) => ({
    async extend(name, token, ttlMs) {
      if (table.holds.get(name)?.token === token) await correct.acquire(name, token, ttlMs)
      return correct.extend(name, token, ttlMs)
    },
  })),
  broken(3, "the release of a late holder returns true", (correct, table) => ({
    release: async (name, token) => {
      const wasHeld = table.holds.get(name)?.token === token
      return (await correct.release(name, token)) || wasHeld
    },
  })),
  broken(3, "a late holder releases its successor", (correct, table) => {
    const before = new Map<string, string>()
    return {
      async acquire(name, token, ttlMs) {
        const old = table.holds.get(name)
        if (old !== undefined && old.token !== token) before.set(name, old.token)
        return correct.acquire(name, token, ttlMs)
      },
      async release(name, token) {
        const isLate = before.get(name) === token && table.holds.get(name)?.token !== token
        return correct.release(name, isLate ? table.holds.get(name)!.token : token)
      },
    }
  }),
  broken(4, "a release resets the fence", (correct, table) => ({
    async release(name, token) {
      const wasHeld = await correct.release(name, token)
      if (wasHeld) table.lastFence = 0
      return wasHeld
    },
  })),
  broken(4, "the fence stays the same when a holder acquires again after its time", (correct, table) => {
    const given = new Map<string, number>()
    return {
      async acquire(name, token, ttlMs) {
        const answer = await correct.acquire(name, token, ttlMs)
        if (answer.outcome === "held" || !table.holds.has(name)) return answer
        const fence = given.get(`${name} ${token}`) ?? answer.fence
        given.set(`${name} ${token}`, fence)
        return { outcome: "acquired", fence }
      },
      async release(name, token) {
        given.delete(`${name} ${token}`)
        return correct.release(name, token)
      },
    }
  }),
  broken(4, "each connection counts its own fences", (correct) => {
    let count = 0
    let last = 0
    return {
      async acquire(name, token, ttlMs) {
        const answer = await correct.acquire(name, token, ttlMs)
        if (answer.outcome === "held") return answer
        if (answer.fence !== last) count++
        last = answer.fence
        return { outcome: "acquired", fence: count }
      },
    }
  }),
  broken(4, "a fence is drawn before the lock is taken", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const drawn = ++table.lastFence
      for (let turns = drawn % 4; turns > 0; turns--) await turn()
      const answer = await correct.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? answer : { outcome: "acquired", fence: drawn }
    },
  })),
  broken(5, "each request gets a new fence", (correct, table) => ({
    acquire: async (name, token, ttlMs) => refenced(await correct.acquire(name, token, ttlMs), table),
  })),
  broken(5, "a holder that acquires again is answered that the lock is held", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      return table.holds.has(name) ? { outcome: "held", forMs: ttlMs } : correct.acquire(name, token, ttlMs)
    },
  })),
  broken(5, "acquiring again doesn't restart the time", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const hold = table.holds.get(name)
      const answer = await correct.acquire(name, token, ttlMs)
      if (hold?.token === token) table.holds.set(name, hold)
      return answer
    },
  })),
  broken(5, "a lock needs as many releases as acquires", (correct) => {
    const depths = new Map<string, number>()
    return {
      async acquire(name, token, ttlMs) {
        const answer = await correct.acquire(name, token, ttlMs)
        if (answer.outcome === "acquired") depths.set(token, 1 + (depths.get(token) ?? 0))
        return answer
      },
      async release(name, token) {
        const depth = (depths.get(token) ?? 1) - 1
        depths.set(token, depth)
        return depth > 0 || correct.release(name, token)
      },
    }
  }),
  broken(5, "two simultaneous requests with one token get two fences", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const isThere = table.holds.has(name)
      await turn()
      const answer = await correct.acquire(name, token, ttlMs)
      return isThere ? answer : refenced(answer, table)
    },
  })),
  ...(
    [
      ["case", (name: string) => name.toLowerCase()],
      ["trailing spaces", (name: string) => name.trimEnd()],
      ["Unicode composition", (name: string) => name.normalize("NFC")],
      ["the characters after the 200th", (name: string) => name.slice(0, 200)],
    ] as const
  ).map(([what, change]) =>
    broken(6, `names are compared without ${what}`, (correct) => ({
      acquire: (name, token, ttlMs) => correct.acquire(change(name), token, ttlMs),
      extend: (name, token, ttlMs) => correct.extend(change(name), token, ttlMs),
      release: (name, token) => correct.release(change(name), token),
    })),
  ),
  broken(6, "tokens are compared by their end", (correct, table) => ({
    async release(name, token) {
      const own = table.holds.get(name)?.token ?? ""
      return correct.release(name, token.endsWith(own) ? own : token)
    },
  })),
  broken(7, "forMs is always the whole time", (correct) => ({
    async acquire(name, token, ttlMs) {
      const answer = await correct.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? { outcome: "held", forMs: LONG_MS } : answer
    },
  })),
  broken(7, "forMs is in seconds", (correct) => ({
    async acquire(name, token, ttlMs) {
      const answer = await correct.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? { outcome: "held", forMs: Math.floor(answer.forMs / 1_000) } : answer
    },
  })),
  broken(7, "forMs ignores extensions", (correct, table) => ({
    async acquire(name, token, ttlMs) {
      const answer = await correct.acquire(name, token, ttlMs)
      if (answer.outcome === "acquired") return answer
      return { outcome: "held", forMs: Math.max(0, answer.forMs - (extendedBy.get(table) ?? 0)) }
    },
    async extend(name, token, ttlMs) {
      const before = table.holds.get(name)!.expiresAt
      const isExtended = await correct.extend(name, token, ttlMs)
      extendedBy.set(table, table.holds.get(name)!.expiresAt - before)
      return isExtended
    },
  })),
  broken(8, "an invalid time is taken as one second", (correct) => ({
    acquire: (name, token, ttlMs) => correct.acquire(name, token, ttlMs > 0 && ttlMs < 1e9 ? ttlMs : 1_000),
  })),
  broken(8, "names are cut at 255 characters", (correct) => ({
    acquire: (name, token, ttlMs) => correct.acquire(name.slice(0, 255), token, ttlMs),
  })),
  broken(8, "an empty token is accepted", (correct) => ({
    acquire: (name, token, ttlMs) => correct.acquire(name, token || "nobody", ttlMs),
  })),
  broken(9, "opening again removes all holds", (correct, table) => {
    let isOpen = false
    return {
      async open() {
        await correct.open()
        if (isOpen) table.holds.clear()
        isOpen = true
      },
    }
  }),
  broken(9, "closing releases all holds", (correct, table) => ({
    async close() {
      table.holds.clear()
      await correct.close()
    },
  })),
  broken(9, "a closed backend still answers", () => ({ close: async () => undefined })),
]

function refenced(answer: AcquireAnswer, table: LockTable): AcquireAnswer {
  return answer.outcome === "held" ? answer : { outcome: "acquired", fence: ++table.lastFence }
}
