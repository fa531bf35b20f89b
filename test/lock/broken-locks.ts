import { LONG_MS } from "../../src/lock/laws/law.ts"
import type { LockTable } from "../../src/lock/memory.ts"
import type { AcquireAnswer, LockBackend } from "../../src/lock.ts"
import { turn } from "./lab.ts"

/** A backend with one bug of the kind that real ones ship, and the law it breaks. */
export interface BrokenLocks {
  readonly law: number
  readonly bug: string
  make(sound: LockBackend, shelf: LockTable): LockBackend
}

function broken(
  law: number,
  bug: string,
  breakIt: (sound: LockBackend, shelf: LockTable) => Partial<LockBackend>,
): BrokenLocks {
  return { law, bug, make: (sound, shelf) => ({ ...sound, ...breakIt(sound, shelf) }) }
}

/** What all connections of one broken backend know. */
const extendedBy = new WeakMap<LockTable, number>()

export const BROKEN_LOCKS: readonly BrokenLocks[] = [
  broken(1, "looking and taking are two steps", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const isFree = !shelf.holds.has(name)
      await turn()
      if (isFree) shelf.holds.delete(name)
      return sound.acquire(name, token, ttlMs)
    },
  })),
  broken(1, "a lock whose time was up at the look is taken, whoever took it since", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const seen = shelf.holds.get(name)
      await turn()
      if (seen !== undefined && shelf.holds.get(name) !== seen) shelf.holds.delete(name)
      return sound.acquire(name, token, ttlMs)
    },
  })),
  broken(1, "one who comes in vain becomes the owner", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const answer = await sound.acquire(name, token, ttlMs)
      const hold = shelf.holds.get(name)!
      if (answer.outcome === "held") shelf.holds.set(name, { ...hold, token })
      return answer
    },
  })),
  broken(1, "there is one lock for all names", (sound) => ({
    acquire: (_, token, ttlMs) => sound.acquire("all", token, ttlMs),
    extend: (_, token, ttlMs) => sound.extend("all", token, ttlMs),
    release: (_, token) => sound.release("all", token),
  })),
  broken(2, "anybody extends", (sound, shelf) => ({
    extend: (name, token, ttlMs) => sound.extend(name, shelf.holds.get(name)?.token ?? token, ttlMs),
  })),
  broken(2, "anybody releases", (sound, shelf) => ({
    release: (name, token) => sound.release(name, shelf.holds.get(name)?.token ?? token),
  })),
  broken(2, "a release waits for the time to be up", (_, shelf) => ({
    release: async (name, token) => shelf.holds.get(name)?.token === token,
  })),
  broken(2, "extending what nobody holds takes it", (sound, shelf) => ({
    async extend(name, token, ttlMs) {
      if (!shelf.holds.has(name)) await sound.acquire(name, token, ttlMs)
      return sound.extend(name, token, ttlMs)
    },
  })),
  broken(2, "an extension says yes and does nothing", (_, shelf) => ({
    extend: async (name, token) => shelf.holds.get(name)?.token === token,
  })),
  broken(2, "an extension never shortens", (sound, shelf) => ({
    async extend(name, token, ttlMs) {
      const before = shelf.holds.get(name)
      const isOurs = await sound.extend(name, token, ttlMs)
      const after = shelf.holds.get(name)
      if (isOurs && before!.expiresAt > after!.expiresAt) shelf.holds.set(name, before!)
      return isOurs
    },
  })),
  broken(3, "a lock is held until it is released", (sound) => ({
    acquire: (name, token) => sound.acquire(name, token, 1_000 * LONG_MS),
  })),
  broken(3, "a late holder that nobody followed may still extend", (sound, shelf) => ({
    async extend(name, token, ttlMs) {
      if (shelf.holds.get(name)?.token === token) await sound.acquire(name, token, ttlMs)
      return sound.extend(name, token, ttlMs)
    },
  })),
  broken(3, "a late holder is told that it released", (sound, shelf) => ({
    release: async (name, token) => {
      const wasOurs = shelf.holds.get(name)?.token === token
      return (await sound.release(name, token)) || wasOurs
    },
  })),
  broken(3, "a late holder releases its successor", (sound, shelf) => {
    const before = new Map<string, string>()
    return {
      async acquire(name, token, ttlMs) {
        const old = shelf.holds.get(name)
        if (old !== undefined && old.token !== token) before.set(name, old.token)
        return sound.acquire(name, token, ttlMs)
      },
      async release(name, token) {
        const isLate = before.get(name) === token && shelf.holds.get(name)?.token !== token
        return sound.release(name, isLate ? shelf.holds.get(name)!.token : token)
      },
    }
  }),
  broken(4, "the fence goes with its row", (sound, shelf) => ({
    async release(name, token) {
      const isOurs = await sound.release(name, token)
      if (isOurs) shelf.lastFence = 0
      return isOurs
    },
  })),
  broken(4, "the fence stays when the same holder comes back after its time", (sound, shelf) => {
    const given = new Map<string, number>()
    return {
      async acquire(name, token, ttlMs) {
        const answer = await sound.acquire(name, token, ttlMs)
        if (answer.outcome === "held" || !shelf.holds.has(name)) return answer
        const fence = given.get(`${name} ${token}`) ?? answer.fence
        given.set(`${name} ${token}`, fence)
        return { outcome: "acquired", fence }
      },
      async release(name, token) {
        given.delete(`${name} ${token}`)
        return sound.release(name, token)
      },
    }
  }),
  broken(4, "each connection counts for itself", (sound) => {
    let count = 0
    let last = 0
    return {
      async acquire(name, token, ttlMs) {
        const answer = await sound.acquire(name, token, ttlMs)
        if (answer.outcome === "held") return answer
        if (answer.fence !== last) count++
        last = answer.fence
        return { outcome: "acquired", fence: count }
      },
    }
  }),
  broken(4, "a fence is drawn early and written late", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const drawn = ++shelf.lastFence
      for (let turns = drawn % 4; turns > 0; turns--) await turn()
      const answer = await sound.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? answer : { outcome: "acquired", fence: drawn }
    },
  })),
  broken(5, "each question has a fence of its own", (sound, shelf) => ({
    acquire: async (name, token, ttlMs) => refenced(await sound.acquire(name, token, ttlMs), shelf),
  })),
  broken(5, "the holder hears that its own lock is held", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      return shelf.holds.has(name) ? { outcome: "held", forMs: ttlMs } : sound.acquire(name, token, ttlMs)
    },
  })),
  broken(5, "acquiring again leaves the time as it was", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const hold = shelf.holds.get(name)
      const answer = await sound.acquire(name, token, ttlMs)
      if (hold?.token === token) shelf.holds.set(name, hold)
      return answer
    },
  })),
  broken(5, "holds are counted", (sound) => {
    const depths = new Map<string, number>()
    return {
      async acquire(name, token, ttlMs) {
        const answer = await sound.acquire(name, token, ttlMs)
        if (answer.outcome === "acquired") depths.set(token, 1 + (depths.get(token) ?? 0))
        return answer
      },
      async release(name, token) {
        const depth = (depths.get(token) ?? 1) - 1
        depths.set(token, depth)
        return depth > 0 || sound.release(name, token)
      },
    }
  }),
  broken(5, "the same question at the same time draws two fences", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const isThere = shelf.holds.has(name)
      await turn()
      const answer = await sound.acquire(name, token, ttlMs)
      return isThere ? answer : refenced(answer, shelf)
    },
  })),
  ...(
    [
      ["case", (name: string) => name.toLowerCase()],
      ["trailing spaces", (name: string) => name.trimEnd()],
      ["composition", (name: string) => name.normalize("NFC")],
      ["what comes after the 200th character", (name: string) => name.slice(0, 200)],
    ] as const
  ).map(([what, change]) =>
    broken(6, `names are compared without ${what}`, (sound) => ({
      acquire: (name, token, ttlMs) => sound.acquire(change(name), token, ttlMs),
      extend: (name, token, ttlMs) => sound.extend(change(name), token, ttlMs),
      release: (name, token) => sound.release(change(name), token),
    })),
  ),
  broken(6, "tokens are compared by their end", (sound, shelf) => ({
    async release(name, token) {
      const own = shelf.holds.get(name)?.token ?? ""
      return sound.release(name, token.endsWith(own) ? own : token)
    },
  })),
  broken(7, "forMs is the whole time, whenever one asks", (sound) => ({
    async acquire(name, token, ttlMs) {
      const answer = await sound.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? { outcome: "held", forMs: LONG_MS } : answer
    },
  })),
  broken(7, "forMs is in seconds", (sound) => ({
    async acquire(name, token, ttlMs) {
      const answer = await sound.acquire(name, token, ttlMs)
      return answer.outcome === "held" ? { outcome: "held", forMs: Math.floor(answer.forMs / 1_000) } : answer
    },
  })),
  broken(7, "forMs doesn't know of extensions", (sound, shelf) => ({
    async acquire(name, token, ttlMs) {
      const answer = await sound.acquire(name, token, ttlMs)
      if (answer.outcome === "acquired") return answer
      return { outcome: "held", forMs: Math.max(0, answer.forMs - (extendedBy.get(shelf) ?? 0)) }
    },
    async extend(name, token, ttlMs) {
      const before = shelf.holds.get(name)!.expiresAt
      const isOurs = await sound.extend(name, token, ttlMs)
      extendedBy.set(shelf, shelf.holds.get(name)!.expiresAt - before)
      return isOurs
    },
  })),
  broken(8, "a time of nothing is a second", (sound) => ({
    acquire: (name, token, ttlMs) => sound.acquire(name, token, ttlMs > 0 && ttlMs < 1e9 ? ttlMs : 1_000),
  })),
  broken(8, "names are cut at what the column holds", (sound) => ({
    acquire: (name, token, ttlMs) => sound.acquire(name.slice(0, 255), token, ttlMs),
  })),
  broken(8, "an empty token is nobody's", (sound) => ({
    acquire: (name, token, ttlMs) => sound.acquire(name, token || "nobody", ttlMs),
  })),
  broken(9, "opening begins from nothing", (sound, shelf) => {
    let isOpen = false
    return {
      async open() {
        await sound.open()
        if (isOpen) shelf.holds.clear()
        isOpen = true
      },
    }
  }),
  broken(9, "closing gives back what was held", (sound, shelf) => ({
    async close() {
      shelf.holds.clear()
      await sound.close()
    },
  })),
  broken(9, "a closed backend goes on", () => ({ close: async () => undefined })),
]

function refenced(answer: AcquireAnswer, shelf: LockTable): AcquireAnswer {
  return answer.outcome === "held" ? answer : { outcome: "acquired", fence: ++shelf.lastFence }
}
