import { BelfryError } from "../../core/errors.ts"

/** Law 12 (Apart) for every store: a record that can't be stored harms no other record. */

/**
 * Sends all elements in one call. If one of them can't be stored, sends each half by itself, until that element is found.
 * One bad element in 500 costs about twenty calls, and the others are stored. `send` must change nothing if it refuses: it is
 * called again with the same elements.
 */
export async function sendIsolated<Element, Answer>(
  elements: readonly Element[],
  send: (elements: readonly Element[]) => Promise<readonly Answer[]>,
  refuse: (why: string, element: Element) => Answer,
): Promise<readonly Answer[]> {
  try {
    return await send(elements)
  } catch (error) {
    if (!isRefusal(error)) throw error
    if (elements.length === 1) return [refuse(error.message, elements[0]!)]
    const middle = Math.ceil(elements.length / 2)
    const first = await sendIsolated(elements.slice(0, middle), send, refuse)
    return [...first, ...(await sendIsolated(elements.slice(middle), send, refuse))]
  }
}

/** The same for stores in which an element that can't be stored throws before it has changed anything. */
export function applyIsolated<Element, Answer>(
  elements: readonly Element[],
  apply: (element: Element) => Answer,
  refuse: (why: string, element: Element) => Answer,
): readonly Answer[] {
  return elements.map((element) => {
    try {
      return apply(element)
    } catch (error) {
      if (!isRefusal(error)) throw error
      return refuse(error.message, element)
    }
  })
}

/** The answer to a plan or a change that can't be stored. */
export function unstorable(why: string) {
  return { outcome: "unstorable", why } as const
}

/** The answer to a run that can't be stored. */
export function unstorableRun(why: string, { id }: { readonly id: string }) {
  return { outcome: "unstorable", runId: id, why } as const
}

function isRefusal(error: unknown): error is BelfryError {
  return error instanceof BelfryError && error.code === "BELFRY_STORE_REFUSED"
}

/** A value as JSON text. Refuses circular values, BigInts and values that are nested too deeply. */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "null"
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new BelfryError("BELFRY_STORE_REFUSED", `A value can't be written as JSON: ${why}`, { cause })
  }
}

export function jsonTextOrNull(value: unknown): string | null {
  return value === null ? null : jsonText(value)
}

/** Databases can't store NaN and infinity as numbers. */
export function finite(value: number): number {
  if (Number.isFinite(value)) return value
  throw new BelfryError("BELFRY_STORE_REFUSED", `${value} is not a number that can be stored.`)
}

/** Why a stored record can't be read: a text that is shown on the record. */
export function unreadableBecause(error: unknown): string {
  return `This record can't be read: ${error instanceof Error ? error.message : String(error)}`
}
