import type { Document, NewDocument } from "../../core/records/document.ts"
import type { Instant } from "../../core/time/instant.ts"
import type { DocumentFilter, DocumentPage } from "../../store/store.ts"

/** Documents by kind, then by id. */
export class Documents {
  readonly #kinds = new Map<string, Map<string, Document>>()

  versionOf({ kind, id }: NewDocument): number | null {
    return this.#kinds.get(kind)?.get(id)?.version ?? null
  }

  put({ kind, id, value }: NewDocument, version: number, now: Instant): void {
    const ofKind = this.#kinds.get(kind) ?? new Map<string, Document>()
    this.#kinds.set(kind, ofKind)
    const createdAt = ofKind.get(id)?.createdAt ?? now
    if (value === null) ofKind.delete(id)
    else ofKind.set(id, { kind, id, value, version, createdAt, updatedAt: now, problem: null })
  }

  page({ kind, ids }: DocumentFilter, { afterId, limit }: DocumentPage): readonly Document[] {
    return [...(this.#kinds.get(kind)?.values() ?? [])]
      .filter(({ id }) => ids?.includes(id) !== false && (afterId === null || id > afterId))
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }
}
