import assert from "node:assert/strict"
import type { LockBackend } from "../backend.ts"

/** One promise of the backends, and the cases that show whether one keeps it. */
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

/** Where a backend is put to the test. */
export interface LockLab {
  /** With nothing held, opened. Each case asks once. */
  openBackend(): Promise<LockBackend>
  /** Another way to the same locks, opened: with connections of its own, as another process would have them. */
  openPeer(): Promise<LockBackend>
  /** Lets at least that much of the backend's time pass: virtually where possible, else by waiting. */
  pass(ms: number): Promise<void>
}

export function lawCase(
  title: string,
  proof: (locks: LockBackend, lab: LockLab) => Promise<void>,
): LockLawCase {
  return { title, prove: async (lab) => proof(await lab.openBackend(), lab) }
}

/** Longer than a case takes, however slow the machine: for a hold that a case finds still there. */
export const LONG_MS = 600_000
/** Soon over: for a hold whose end a case waits for. One call may last longer, so no case counts on it before. */
export const SHORT_MS = 25

/** Acquires, and answers the fence. */
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

/** That somebody else holds it; answers for how long. */
export async function assertHeld(locks: LockBackend, name: string): Promise<number> {
  const answer = await locks.acquire(name, "a-stranger", LONG_MS)
  assert.equal(answer.outcome, "held", `"${name}" is held`)
  return answer.outcome === "held" ? answer.forMs : 0
}

/** A hold that somebody else has found held, and that ends within `ttlMs`. */
export interface PassingHold {
  readonly name: string
  readonly ttlMs: number
  /** What the one who found it held was told. */
  readonly forMs: number
}

/**
 * A slow machine may need longer for the question than a short hold lasts. Then there is nothing to see, and another lock is
 * held for longer.
 */
export async function foundHeld(locks: LockBackend): Promise<PassingHold> {
  for (let ttlMs = SHORT_MS; ttlMs < LONG_MS; ttlMs *= LONGER) {
    const name = `held for ${ttlMs}`
    await acquired(locks, name, "first", ttlMs)
    const answer = await locks.acquire(name, "a-stranger", ttlMs)
    if (answer.outcome === "held") return { name, ttlMs, forMs: answer.forMs }
  }
  return assert.fail("a lock is held for as long as was asked for")
}

/** As `foundHeld`, but the holder has extended its hold: by its first time alone it would end within `ttlMs`. */
export async function extendedInTime(locks: LockBackend): Promise<Omit<PassingHold, "forMs">> {
  for (let ttlMs = SHORT_MS; ttlMs < LONG_MS; ttlMs *= LONGER) {
    const name = `extended after ${ttlMs}`
    await acquired(locks, name, "first", ttlMs)
    if (await locks.extend(name, "first", LONG_MS)) return { name, ttlMs }
  }
  return assert.fail("its holder extends a lock")
}

const LONGER = 4

const PEERS = 4

export async function withPeers(locks: LockBackend, lab: LockLab): Promise<readonly LockBackend[]> {
  const peers = [locks]
  while (peers.length < PEERS) peers.push(await lab.openPeer())
  // A pool makes its connections when they are first needed, and whoever had one already would win every race.
  await together(peers, 10 * PEERS, (peer) => peer.release("nobody-holds-this", "nobody"))
  return peers
}

/** All at once, as that many callers would, shared out among the peers. */
export function together<T>(
  peers: readonly LockBackend[],
  count: number,
  act: (peer: LockBackend, index: number) => Promise<T>,
): Promise<readonly T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(peers[index % peers.length]!, index)))
}
