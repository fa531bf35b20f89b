import { type Duration, parseDuration } from "../../src/core/time/duration.ts"
import { silentLogger } from "../../src/runtime/logger.ts"
import { createScheduler } from "../../src/scheduler/create-scheduler.ts"
import type { Scheduler } from "../../src/scheduler/scheduler.ts"
import type { SchedulerOptions } from "../../src/scheduler/scheduler-options.ts"
import type { RunView } from "../../src/scheduler/views.ts"
import type { Store } from "../../src/store/store.ts"
import { createMemoryStore } from "../../src/stores/memory/memory-store.ts"
import { createVirtualClock, type VirtualClock } from "../../src/testing/virtual-clock.ts"

/** Several schedulers, like several processes, on one store and one virtual clock. */
export class Fleet {
  readonly clock: VirtualClock
  readonly store: Store
  readonly #nodes: Scheduler[] = []

  constructor(startAt = "2026-01-01T00:00:00Z") {
    this.clock = createVirtualClock(Date.parse(startAt))
    this.store = createMemoryStore(this.clock)
  }

  /** A new scheduler. Stopping it leaves the store open for the other schedulers. */
  node(options: Omit<SchedulerOptions, "store" | "clock"> & { store?: Store } = {}): Scheduler {
    const store = withoutClose(options.store ?? this.store)
    const node = createScheduler({ logger: silentLogger, ...options, store, clock: this.clock })
    this.#nodes.push(node)
    return node
  }

  async started(options: Parameters<Fleet["node"]>[0] = {}): Promise<Scheduler> {
    const node = this.node(options)
    await this.until(node.start())
    await turn()
    return node
  }

  now(): string {
    return new Date(this.clock.now()).toISOString()
  }

  /** Lets that much time pass for all schedulers. Timers that are due in it fire, in order. */
  async advance(duration: Duration): Promise<void> {
    const target = this.clock.now() + parseDuration(duration)
    await turn()
    while (this.clock.timeline.step(target)) await turn()
    this.clock.timeline.jumpTo(target)
  }

  /** Lets time pass until the promise is settled. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false
    const settled = () => {
      isSettled = true
    }
    promise.then(settled, settled)
    await turn()
    while (!isSettled) {
      this.clock.timeline.step(Number.POSITIVE_INFINITY)
      await turn()
    }
    return promise
  }

  /** All runs in the store, oldest first, including skips. */
  async runs(): Promise<readonly RunView[]> {
    const { runs } = this.node()
    const listed = (await runs.list({ limit: 1_000 })).items
    const whole = await Promise.all(listed.map(({ id }) => runs.get(id)))
    return whole.filter((run) => run !== null).toReversed()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.#nodes) await this.until(node.stop({ timeout: 0 }).catch(() => undefined))
  }
}

/** A turn of the event loop, after which all promises that wait for no timer or I/O have settled. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}

/** A promise that the test settles. */
export function gate<T = void>(): { promise: Promise<T>; open(value: T): void } {
  let open: (value: T) => void = () => undefined
  const promise = new Promise<T>((resolve) => {
    open = resolve
  })
  return { promise, open: (value) => open(value) }
}

/** Resolves when the signal is aborted: for a handler that runs until it is stopped. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener("abort", () => resolve(), { once: true })
  })
}

/** For a handler that takes this much virtual time and ignores its signal. */
export function taking(clock: VirtualClock, duration: Duration): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(parseDuration(duration), resolve)
  })
}

export const never = new Promise<never>(() => undefined)

function withoutClose(store: Store): Store {
  return new Proxy(store, {
    get: (target, name) => (name === "close" ? async () => undefined : Reflect.get(target, name)),
  })
}
