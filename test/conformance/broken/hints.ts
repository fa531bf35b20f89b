import type { Hint } from "belfry/store"
import { broken, roundTrip } from "./breaking.ts"

export const BROKEN_HINTS = [
  broken(11, "a hint is the raw message of the channel", (store) => ({
    listen: (onHint) => store.listen((hint) => onHint(`belfry:${hint}` as Hint)),
  })),
  broken(11, "a listener can't stop listening", (store) => ({
    async listen(onHint) {
      await store.listen(onHint)
      return async () => undefined
    },
  })),
  broken(11, "stopping one listener stops all", (store) => {
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
  broken(11, "two listeners with the same callback count as one", (store) => {
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
  broken(11, "a listener's exception keeps the hint from later listeners", (store) => {
    const listeners = new Set<(hint: Hint) => void>()
    const send = (hint: Hint) => {
      for (const listener of listeners) listener(hint)
    }
    return {
      async listen(onHint) {
        // One listener at the store for all callbacks, like one connection for all.
        if (listeners.size === 0) await store.listen(send)
        const listener = (hint: Hint) => onHint(hint)
        listeners.add(listener)
        return async () => void listeners.delete(listener)
      },
    }
  }),
  broken(11, "closing sends a hint", (store) => {
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
  broken(11, "a run is stored only if there is a listener", (store) => {
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
