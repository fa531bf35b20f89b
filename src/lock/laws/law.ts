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

/** Longer than a case takes. */
export const LONG_MS = 60_000
/** Short enough to wait for, and long enough for a few calls on a busy machine. */
export const SHORT_MS = 400

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
