import type { Document } from "../../core/records/document.ts"
import { type Json, storedJson } from "../../core/values/json.ts"
import { unreadableBecause } from "./isolation.ts"

/** A document from its stored parts. If its value can't be read, `problem` says why, and other documents are still read. */
export function readableDocument(about: Omit<Document, "value" | "problem">, value: string | null): Document {
  try {
    return { ...about, value: value === null ? null : (storedJson(value) as Json), problem: null }
  } catch (error) {
    return { ...about, value: null, problem: unreadableBecause(error) }
  }
}
