import type { Instant } from "../core/time/instant.ts"
import { describeThrown } from "../core/values/thrown.ts"
import type { Clock } from "../runtime/clock.ts"
import type { Logger } from "../runtime/logger.ts"
import type { Events } from "./events.ts"

/**
 * One of the engine's loops: it takes a turn, sleeps for the time that the turn returned or until it is woken, and repeats. A
 * turn that throws (the store is unreachable) never ends the loop: the loop backs off, and reports faults and recovery.
 */
export class Loop {
  readonly #options: LoopOptions
  #isStopped = true
  #isWoken = false
  /** Callers of `tryAgain` that wait for the end of the next turn. */
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

  /** Ends the sleep, or skips the next one if a turn is under way. */
  wake(): void {
    this.#isWoken = true
    // After a fault the back-off is kept: hurrying doesn't help an unreachable store.
    if (this.#faults === 0) this.#endSleep?.()
  }

  /**
   * Like `wake`, but also ends the back-off after a fault: the store seems to be back. Resolves when a turn that began after
   * this call has ended. True: the turn succeeded. False: it failed, or the loop has stopped.
   */
  tryAgain(): Promise<boolean> {
    if (this.#isStopped) return Promise.resolve(false)
    return new Promise((resolve) => {
      this.#awaiting.push(resolve)
      this.#endSleep?.()
    })
  }

  /** Resolves when the current turn has ended. */
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

  /** Returns the delay until the next turn. */
  async #turn(): Promise<number> {
    const { turn, clock, onFault, onRecovery } = this.#options
    try {
      const delayMs = await turn()
      if (this.#faults > 0) {
        this.#faults = 0
        this.#callSafely(() => onRecovery?.())
      }
      return delayMs
    } catch (error) {
      this.#faults++
      this.#callSafely(() => onFault(error, this.#faults))
      return faultDelayMs(this.#faults, clock.random())
    }
  }

  /** `onFault` may do more than log: it starts firing from memory. An error thrown there must not end the loop. */
  #callSafely(callback: () => void): void {
    try {
      callback()
    } catch {}
  }

  #sleep(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancelTimer()
        this.#endSleep = null
        resolve()
      }
      // Rounded up: timers can fire a fraction of a millisecond early, and an early turn is wasted.
      const cancelTimer = this.#options.clock.setTimer(Math.max(0, Math.ceil(delayMs)), end)
      this.#endSleep = end
    })
  }
}

export interface LoopOptions {
  readonly clock: Clock
  /** Limit of the sleep between two turns, because hints may be lost. */
  readonly longestSleepMs: number
  /** Does one round of work. Returns the milliseconds until the next one is needed. */
  turn(): Promise<number>
  /** `count` is 1 for the first fault after a successful turn. */
  onFault(error: unknown, count: number): void
  onRecovery?(): void
}

/**
 * Reports a loop: the first fault after a successful turn and the recovery go to the log, and every fault to the listeners of
 * the event `error`.
 */
export function loopReports(
  { logger, events }: { readonly logger: Logger; readonly events: Events },
  { component, level = "error", fault, recovery }: LoopMessages,
): Required<Pick<LoopOptions, "onFault" | "onRecovery">> {
  return {
    onFault(error, count) {
      if (count === 1) logger[level]({ component, error: describeThrown(error) }, fault)
      events.error(error, component)
    },
    onRecovery() {
      if (recovery !== undefined) logger.warn({ component }, recovery)
    },
  }
}

export interface LoopMessages {
  readonly component: string
  /** Of the message about a fault. Default: `error`. */
  readonly level?: "debug" | "warn" | "error"
  readonly fault: string
  /** Default: the recovery isn't logged. */
  readonly recovery?: string
}

/** Time until `at`: the store's clock at its last answer, plus the time measured here since then. Null: never. */
export function delayUntil(at: Instant | null, storeNow: Instant, elapsedMs: number): number {
  return at === null ? Number.POSITIVE_INFINITY : Math.max(0, at - storeNow - elapsedMs)
}

/** 250 ms, doubling to 5 s, less a random part of up to a quarter so that many processes don't retry at once. */
function faultDelayMs(faults: number, chance: number): number {
  return Math.min(250 * 2 ** Math.min(faults - 1, 10), 5_000) * (1 - 0.25 * chance)
}
