import assert from "node:assert/strict"
import type { LockBackend } from "../backend.ts"

/** One law of lock backends, and the cases that check it. */
export interface LockLaw {
  readonly number: number
  readonly name: string
  readonly statement: string
  readonly cases: readonly LockLawCase[]
}

export interface LockLawCase {
  /** A sentence of the specification. */
  readonly title: string
  /** Throws if the law is broken. */
  prove(lab: LockLab): Promise<void>
}

/** The environment in which a backend is tested. */
export interface LockLab {
  /** Returns an opened backend with no holds. Each case calls this once. */
  openBackend(): Promise<LockBackend>
  /** Returns another opened backend for the same locks, with connections of its own, as in another process. */
  openPeer(): Promise<LockBackend>
  /** Lets at least this much time pass by the backend's clock: virtually if possible, otherwise by waiting. */
  pass(ms: number): Promise<void>
}

export function lawCase(
  title: string,
  proof: (locks: LockBackend, lab: LockLab) => Promise<void>,
): LockLawCase {
  return { title, prove: async (lab) => proof(await lab.openBackend(), lab) }
}

/** Longer than a case takes on any machine. For holds that must not end during a case. */
export const LONG_MS = 600_000
/** For holds whose end a case waits for. One call may take longer, so no case relies on the hold before its end. */
export const SHORT_MS = 25

/** Acquires the lock and returns the fence. */
export async function acquired(
  locks: LockBackend,
  name: string,
  token: string,
  ttlMs = LONG_MS,
): Promise<number> {
  const answer = await locks.acquire(name, token, ttlMs)
  assert.equal(answer.outcome, "acquired", `"${token}" acquires "${name}"`)
  return answer.outcome === "acquired" ? answer.fence : 0
}

/** Asserts that another token holds the lock. Returns the remaining time. */
export async function assertHeld(locks: LockBackend, name: string): Promise<number> {
  const answer = await locks.acquire(name, "a-stranger", LONG_MS)
  assert.equal(answer.outcome, "held", `"${name}" is held`)
  return answer.outcome === "held" ? answer.forMs : 0
}

/** A hold that another caller has found held, and that ends within `ttlMs`. */
export interface PassingHold {
  readonly name: string
  readonly ttlMs: number
  /** The remaining time that the other caller got. */
  readonly forMs: number
}

/**
 * On a slow machine a short hold may end before the other caller's request arrives. Then another lock is held for longer.
 */
export async function foundHeld(locks: LockBackend): Promise<PassingHold> {
  for (let ttlMs = SHORT_MS; ttlMs < LONG_MS; ttlMs *= TTL_FACTOR) {
    const name = `held for ${ttlMs}`
    await acquired(locks, name, "first", ttlMs)
    const answer = await locks.acquire(name, "a-stranger", ttlMs)
    if (answer.outcome === "held") return { name, ttlMs, forMs: answer.forMs }
  }
  return assert.fail("every hold ended before another caller could find it held")
}

/** Like `foundHeld`, but the holder has extended its hold. Without the extension it would end within `ttlMs`. */
export async function extendedInTime(locks: LockBackend): Promise<Omit<PassingHold, "forMs">> {
  for (let ttlMs = SHORT_MS; ttlMs < LONG_MS; ttlMs *= TTL_FACTOR) {
    const name = `extended after ${ttlMs}`
    await acquired(locks, name, "first", ttlMs)
    if (await locks.extend(name, "first", LONG_MS)) return { name, ttlMs }
  }
  return assert.fail("every hold ended before its holder could extend it")
}

const TTL_FACTOR = 4

const PEERS = 4

export async function withPeers(locks: LockBackend, lab: LockLab): Promise<readonly LockBackend[]> {
  const peers = [locks]
  while (peers.length < PEERS) peers.push(await lab.openPeer())
  // A pool connects at its first use. Without this call, the peers that are already connected would win every race.
  await together(peers, 10 * PEERS, (peer) => peer.release("nobody-holds-this", "nobody"))
  return peers
}

/** Makes `count` calls at once, distributed over the peers. */
export function together<T>(
  peers: readonly LockBackend[],
  count: number,
  act: (peer: LockBackend, index: number) => Promise<T>,
): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(peers[index % peers.length]!, index)))
}
