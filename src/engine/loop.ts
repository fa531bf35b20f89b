import type { Instant } from "../core/instant.ts"
import type { Clock } from "../runtime/clock.ts"

/**
 * One of the engine's loops: takes a turn, sleeps until the turn says or somebody wakes it, takes another. A turn that
 * throws (the store is away) never ends the loop: it backs off, says so once, and says when it has recovered.
 */
export class Loop {
  readonly #options: LoopOptions
  #isStopped = true
  #isWoken = false
  /** Those who wait for the next turn to have ended. */
  #awaiting: ((hasWorked: boolean) => void)[] = []
  #endSleep: (() => void) | null = null
  #ended: Promise<void> = Promise.resolve()
  #faults = 0

  constructor(options: LoopOptions) {
    this.#options = options
  }

  start(): void {
    if (!this.#isStopped) return
    this.#isStopped = false
    this.#ended = this.#run()
  }

  /** Ends the sleep, or skips the next one if a turn is being taken. */
  wake(): void {
    this.#isWoken = true
    // A store that is away isn't helped by hurry.
    if (this.#faults === 0) this.#endSleep?.()
  }

  /**
   * As `wake`, also after a fault: the store is said to be back. Resolves when a turn that began after this has ended: to whether it
   * worked. False if there is none, because the loop has stopped.
   */
  tryAgain(): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false)
    return new Promise((resolve) => {
      this.#awaiting.push(resolve)
      this.#endSleep?.()
    })
  }

  /** Resolves when the turn being taken has ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endSleep?.()
    await this.#ended
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      this.#isWoken = false
      const awaiting = this.#awaiting
      this.#awaiting = []
      const delayMs = await this.#turn()
      for (const resolve of awaiting) resolve(this.#faults === 0)
      if (this.#isStopped) break
      const isWoken = this.#awaiting.length > 0 || (this.#isWoken && this.#faults === 0)
      if (!isWoken) await this.#sleep(Math.min(delayMs, this.#options.longestSleepMs))
    }
    for (const resolve of this.#awaiting) resolve(false)
  }

  /** The delay until the next turn. */
  async #turn(): Promise<number> {
    const { turn, clock, onFault, onRecovery } = this.#options
    try {
      const delayMs = await turn()
      if (this.#faults > 0) {
        this.#faults = 0
        this.#tell(() => onRecovery?.())
      }
      return delayMs
    } catch (error) {
      this.#faults++
      this.#tell(() => onFault(error, this.#faults))
      return faultDelayMs(this.#faults, clock.random())
    }
  }

  /** `onFault` may do more than log: firing goes over to memory. An error of that must not be what ends a loop. */
  #tell(say: () => void): void {
    try {
      say()
    } catch {}
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancelTimer()
        this.#endSleep = null
        resolve()
      }
      // Timers may ring a fraction of a millisecond early, and early is a wasted turn.
      const cancelTimer = this.#options.clock.setTimer(Math.max(0, Math.ceil(delayMs)), end)
      this.#endSleep = end
    })
  }
}

export interface LoopOptions {
  readonly clock: Clock
  /** However quiet it is, look this often: hints may be lost. */
  readonly longestSleepMs: number
  /** Does one round of work and says how many milliseconds may pass before the next. */
  turn(): Promise<number>
  /** `count` is 1 for the first fault since things last worked. */
  onFault(error: unknown, count: number): void
  onRecovery?(): void
}

/** By the store's clock at the last answer, and our own for what has passed since. */
export function delayUntil(at: Instant | null, storeNow: Instant, elapsedMs: number): number {
  return at === null ? Number.POSITIVE_INFINITY : Math.max(0, at - storeNow - elapsedMs)
}

/** 250 ms, doubling to 5 s, a quarter of it left to chance so that many processes don't return at once. */
function faultDelayMs(faults: number, chance: number): number {
  return Math.min(250 * 2 ** Math.min(faults - 1, 10), 5_000) * (1 - 0.25 * chance)
}
