import assert from "node:assert/strict"
import type { Document } from "../../core/records/document.ts"
import type { Store } from "../store.ts"
import { aDocument, DISTINCT_MS } from "./factories.ts"
import { lawCase } from "./law.ts"
import { PAYLOADS, TEXTS } from "./samples.ts"
import { idsOf, several } from "./steps.ts"

async function put(
  store: Store,
  document: ReturnType<typeof aDocument>,
  ifVersion: number | null,
): Promise<number> {
  const swap = await store.putDocument(document, ifVersion)
  assert.equal(swap.outcome, "done", `document ${document.id} is written`)
  return (swap as { version: number }).version
}

async function documentOf(
  store: Store,
  { kind, id }: { kind: string; id: string },
): Promise<Document | null> {
  const found = await store.findDocuments({ kind, ids: [id] }, { afterId: null, limit: 10 })
  assert.ok(found.length <= 1, `document ${id} is stored once`)
  return found[0] ?? null
}

export const WHOLE_DOCUMENTS = [
  lawCase("A document is stored exactly as it was put, with any JSON value", async (store) => {
    const values = [...PAYLOADS.filter((value) => value !== null), ...TEXTS.map((text) => ({ [text]: text }))]
    for (const [index, value] of values.entries()) {
      const document = aDocument({ id: `d${index}`, value })
      const version = await put(store, document, null)
      const stored = await documentOf(store, document)
      assert.deepEqual(
        { ...stored, createdAt: 0, updatedAt: 0 },
        {
          ...document,
          ...{ version, createdAt: 0, updatedAt: 0, problem: null },
        },
      )
    }
  }),
  lawCase("A document that is put with a null value is deleted", async (store) => {
    const document = aDocument()
    const version = await put(store, document, null)

    await put(store, { ...document, value: null }, version)

    assert.equal(await documentOf(store, document), null)
    assert.deepEqual(await store.findDocuments({ kind: document.kind }, { afterId: null, limit: 10 }), [])
  }),
]

export const ONE_CLOCK_DOCUMENTS = [
  lawCase("A document is dated by the store's clock; an update keeps `createdAt`", async (store, lab) => {
    const document = aDocument()
    const before = await store.now()
    const version = await put(store, document, null)
    const made = (await documentOf(store, document))!
    await lab.pass(DISTINCT_MS)
    await put(store, { ...document, value: 2 }, version)
    const changed = (await documentOf(store, document))!

    assert.ok(made.createdAt >= before && made.createdAt <= (await store.now()), "created now")
    assert.equal(made.updatedAt, made.createdAt)
    assert.equal(changed.createdAt, made.createdAt)
    assert.ok(changed.updatedAt > made.updatedAt, "changed later")
  }),
]

export const FENCED_DOCUMENTS = [
  lawCase("A document is written only if its stored version is `ifVersion`", async (store) => {
    const document = aDocument({ value: 1 })
    const version = await put(store, document, null)
    const stale = { outcome: "stale" }

    assert.deepEqual(await store.putDocument({ ...document, value: 2 }, null), stale)
    assert.deepEqual(await store.putDocument({ ...document, value: 2 }, version + 1), stale)
    assert.deepEqual(await store.putDocument({ ...document, value: null }, null), stale)
    assert.deepEqual(await store.putDocument({ ...document, value: null }, version - 1), stale)
    assert.deepEqual(await store.putDocument(aDocument(), version), stale)
    assert.equal((await documentOf(store, document))!.value, 1)
    const newer = await put(store, { ...document, value: 3 }, version)
    assert.deepEqual(await store.putDocument({ ...document, value: 4 }, version), stale)
    assert.deepEqual(
      [(await documentOf(store, document))!.value, (await documentOf(store, document))!.version],
      [3, newer],
    )
  }),
  lawCase("A document that is deleted and created again has a new version", async (store) => {
    const document = aDocument()
    const first = await put(store, document, null)
    await put(store, { ...document, value: null }, first)
    const second = await put(store, document, null)

    assert.ok(second > first)
    assert.deepEqual(await store.putDocument({ ...document, value: null }, first), { outcome: "stale" })
  }),
  lawCase("Of twenty callers that write one document version at once, one succeeds", async (store, lab) => {
    const stores = [store, ...(await Promise.all(several(3, () => lab.openPeer())))]
    const document = aDocument({ value: 0 })
    const version = await put(store, document, null)
    const answers = await Promise.all(
      several(20, (index) =>
        stores[index % stores.length]!.putDocument({ ...document, value: index }, version),
      ),
    )

    assert.equal(answers.filter(({ outcome }) => outcome === "done").length, 1)
    const winner = answers.findIndex(({ outcome }) => outcome === "done")
    assert.equal((await documentOf(store, document))!.value, winner)
  }),
]

export const BOUNDED_DOCUMENTS = [
  lawCase("Documents of a kind are paged by id, ascending, each once", async (store) => {
    for (const id of ["c", "a", "B", "b", "a/1"]) await put(store, aDocument({ kind: "view", id }), null)
    await put(store, aDocument({ kind: "view:a", id: "x" }), null)
    await put(store, aDocument({ kind: "View", id: "y" }), null)
    const found = async (limit: number, ids?: readonly string[]) => {
      const all: string[] = []
      for (let afterId: string | null = null; all.length < 20; ) {
        const filter = { kind: "view", ...(ids === undefined ? {} : { ids }) }
        const page: readonly Document[] = await store.findDocuments(filter, { afterId, limit })
        assert.ok(page.length <= limit, `${page.length} documents were returned`)
        all.push(...idsOf(page))
        if (page.length < limit) break
        afterId = page.at(-1)!.id
      }
      return all
    }

    for (const limit of [1, 2, 10]) {
      assert.deepEqual(await found(limit), ["B", "a", "a/1", "b", "c"])
      assert.deepEqual(await found(limit, ["c", "a", "a", "unknown", "x"]), ["a", "c"])
      assert.deepEqual(await found(limit, []), [])
    }
  }),
]
