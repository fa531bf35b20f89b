import type { Hint } from "belfry/store"
import { broken, roundTrip } from "./breaking.ts"

export const BROKEN_HINTS = [
  broken(11, "a hint is whatever the channel carries", (store) => ({
    listen: (onHint) => store.listen((hint) => onHint(`belfry:${hint}` as Hint)),
  })),
  broken(11, "nobody can stop listening", (store) => ({
    async listen(onHint) {
      await store.listen(onHint)
      return async () => undefined
    },
  })),
  broken(11, "one who stops listening stops all", (store) => {
    const stops: (() => Promise<void>)[] = []
    return {
      async listen(onHint) {
        stops.push(await store.listen(onHint))
        return async () => {
          for (const stop of stops) await stop()
        }
      },
    }
  }),
  broken(11, "listeners are told apart by their callback", (store) => {
    const stops = new Map<unknown, () => Promise<void>>()
    return {
      async listen(onHint) {
        if (!stops.has(onHint)) stops.set(onHint, await store.listen(onHint))
        return async () => stops.get(onHint)?.()
      },
    }
  }),
  broken(11, "a listener's exception fails the write", (store) => {
    let thrown: unknown = null
    return {
      listen: (onHint) =>
        store.listen((hint) => {
          try {
            onHint(hint)
          } catch (error) {
            thrown = error
          }
        }),
      async enqueue(runs) {
        const answers = await store.enqueue(runs)
        if (thrown !== null) throw thrown
        return answers
      },
    }
  }),
  broken(11, "a listener's exception ends the round", (store) => {
    const listeners = new Set<(hint: Hint) => void>()
    const tell = (hint: Hint) => {
      for (const listener of listeners) listener(hint)
    }
    return {
      async listen(onHint) {
        // One listener at the store for all, as one connection would be.
        if (listeners.size === 0) await store.listen(tell)
        const listener = (hint: Hint) => onHint(hint)
        listeners.add(listener)
        return async () => void listeners.delete(listener)
      },
    }
  }),
  broken(11, "closing is a hint", (store) => {
    const listeners: ((hint: Hint) => void)[] = []
    return {
      listen(onHint) {
        listeners.push(onHint)
        return store.listen(onHint)
      },
      async close() {
        await store.close()
        void roundTrip().then(() => {
          for (const listener of listeners) listener("runs")
        })
      },
    }
  }),
  broken(11, "a run is stored only if somebody listens", (store) => {
    let isHeard = false
    return {
      listen(onHint) {
        isHeard = true
        return store.listen(onHint)
      },
      async enqueue(runs) {
        return isHeard ? store.enqueue(runs) : runs.map(({ id }) => ({ outcome: "created", runId: id }))
      },
    }
  }),
]
