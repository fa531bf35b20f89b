import type { Document, NewDocument, Store } from "belfry/store"
import { broken, roundTrip } from "./breaking.ts"

async function storedOf(store: Store, { kind, id }: NewDocument): Promise<Document | undefined> {
  return (await store.findDocuments({ kind, ids: [id] }, { afterId: null, limit: 1 }))[0]
}

function shown(change: (document: Document) => Document): (store: Store) => Partial<Store> {
  return (store) => ({
    findDocuments: async (...given) => (await store.findDocuments(...given)).map(change),
  })
}

export const BROKEN_DOCUMENTS = [
  broken(
    1,
    "numbers in documents are rounded",
    shown((document) => ({
      ...document,
      value: JSON.parse(JSON.stringify(document.value), (_, value) =>
        typeof value === "number" ? Math.fround(value) : value,
      ),
    })),
  ),
  broken(1, "a null value doesn't delete a document", (store) => ({
    async putDocument(document, ifVersion, entry) {
      if (document.value !== null) return store.putDocument(document, ifVersion, entry)
      const stored = await storedOf(store, document)
      return (stored?.version ?? null) === ifVersion
        ? { outcome: "done", version: 1_000_000 }
        : { outcome: "stale" }
    },
  })),
  broken(1, "an empty document is not found", (store) => ({
    async findDocuments(...given) {
      const found = await store.findDocuments(...given)
      return found.filter(({ value }) => value !== "" && JSON.stringify(value) !== "{}")
    },
  })),
  broken(
    2,
    "a document's `createdAt` is not the store's time",
    shown((document) => ({ ...document, createdAt: 0 })),
  ),
  broken(
    2,
    "each write changes a document's `createdAt`",
    shown((document) => ({
      ...document,
      createdAt: document.updatedAt,
    })),
  ),
  broken(
    2,
    "a document's `updatedAt` never changes",
    shown((document) => ({
      ...document,
      updatedAt: document.createdAt,
    })),
  ),
  broken(3, "the last write of a document always succeeds", (store) => ({
    async putDocument(document, _ifVersion, entry) {
      return store.putDocument(document, (await storedOf(store, document))?.version ?? null, entry)
    },
  })),
  broken(3, "a new document overwrites an existing one", (store) => ({
    async putDocument(document, ifVersion, entry) {
      const version = ifVersion ?? (await storedOf(store, document))?.version ?? null
      return store.putDocument(document, version, entry)
    },
  })),
  broken(3, "a document of any version is deleted", (store) => ({
    async putDocument(document, ifVersion, entry) {
      const version = document.value === null ? (await storedOf(store, document))?.version : ifVersion
      return store.putDocument(document, version ?? null, entry)
    },
  })),
  broken(3, "versions of documents start again", (store) => {
    const versions = new Map<number, number>()
    return {
      async putDocument(document, ifVersion, entry) {
        const stored = await storedOf(store, document)
        const shownVersion = stored === undefined ? null : (versions.get(stored.version) ?? stored.version)
        if (shownVersion !== ifVersion) return { outcome: "stale" }
        const swap = await store.putDocument(document, stored?.version ?? null, entry)
        if (swap.outcome !== "done") return swap
        const version = (shownVersion ?? 0) + 1
        versions.set(swap.version, version)
        return { outcome: "done", version }
      },
      async findDocuments(...given) {
        const found = await store.findDocuments(...given)
        return found.map((each) => ({ ...each, version: versions.get(each.version) ?? each.version }))
      },
    }
  }),
  broken(3, "a document's version is checked, then the document is written", (store) => ({
    async putDocument(document, ifVersion, entry) {
      const stored = await storedOf(store, document)
      if ((stored?.version ?? null) !== ifVersion) return { outcome: "stale" }
      await roundTrip()
      const now = await storedOf(store, document)
      return store.putDocument(document, now?.version ?? null, entry)
    },
  })),
  broken(9, "findDocuments has no limit", (store) => ({
    findDocuments: (filter, page) => store.findDocuments(filter, { ...page, limit: 1_000 }),
  })),
  broken(9, "a page of documents begins with the last document of the previous page", (store) => ({
    async findDocuments(filter, { afterId, limit }) {
      const all = await store.findDocuments(filter, { afterId: null, limit: 1_000 })
      return all.filter(({ id }) => afterId === null || id >= afterId).slice(0, limit)
    },
  })),
  broken(9, "documents are ordered without case", (store) => ({
    async findDocuments(filter, { afterId, limit }) {
      const all = [...(await store.findDocuments(filter, { afterId: null, limit: 1_000 }))]
      all.sort((a, b) => (a.id.toLowerCase() < b.id.toLowerCase() ? -1 : 1))
      const from = afterId === null ? 0 : all.findIndex(({ id }) => id === afterId) + 1
      return all.slice(from, from + limit)
    },
  })),
  broken(9, "an empty list of ids matches all documents", (store) => ({
    findDocuments: ({ kind, ids }, page) =>
      store.findDocuments({ kind, ...(ids === undefined || ids.length === 0 ? {} : { ids }) }, page),
  })),
  broken(9, "kinds of documents are compared without case", (store) => ({
    putDocument: (document, ...rest) =>
      store.putDocument({ ...document, kind: document.kind.toLowerCase() }, ...rest),
    findDocuments: (filter, page) =>
      store.findDocuments({ ...filter, kind: filter.kind.toLowerCase() }, page),
  })),
]
