import type { Document, NewDocument } from "../../../core/records/document.ts"
import type { NewJournalEntry } from "../../../core/records/journal.ts"
import type { Instant } from "../../../core/time/instant.ts"
import type { DocumentFilter, DocumentPage, Swap } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableDocument } from "../../kit/readable-document.ts"
import type { Value } from "../driver.ts"
import type { Prepared } from "../prepared.ts"
import { addEntry } from "./journal.ts"
import { takeVersions } from "./versions.ts"

const SELECT_VERSION = `
  select version
  from belfry_documents
  where kind = ?
    and id = ?`

const UPSERT_DOCUMENT = `
  insert into belfry_documents (kind, id, version, created_at, updated_at, value)
  values (?, ?, ?, ?, ?, ?)
  on conflict (kind, id) do update
  set version = excluded.version,
    updated_at = excluded.updated_at,
    value = excluded.value`

const DELETE_DOCUMENT = `
  delete from belfry_documents
  where kind = ?
    and id = ?`

/** The write lock is held: the version read is the version replaced. */
export function putDocument(
  connection: Prepared,
  { kind, id, value }: NewDocument,
  about: { ifVersion: number | null; entry: NewJournalEntry | undefined; now: Instant },
): Swap {
  const { ifVersion, entry, now } = about
  const row = connection.prepare(SELECT_VERSION).get(kind, id) as { version: number } | undefined
  if ((row?.version ?? null) !== ifVersion) return { outcome: "stale" }
  const version = takeVersions(connection, 1)
  if (value === null) connection.prepare(DELETE_DOCUMENT).run(kind, id)
  else connection.prepare(UPSERT_DOCUMENT).run(kind, id, version, now, now, jsonText(value))
  if (entry !== undefined) addEntry(connection, entry, now)
  return { outcome: "done", version }
}

type DocumentRow = readonly [id: string, version: number, createdAt: number, updatedAt: number, value: string]

export function findDocuments(
  connection: Prepared,
  filter: DocumentFilter,
  page: DocumentPage,
): readonly Document[] {
  const { sql, values } = documentsQuery(filter, page)
  return connection
    .rows<DocumentRow>(sql, values)
    .map(([id, version, createdAt, updatedAt, value]) =>
      readableDocument({ kind: filter.kind, id, version, createdAt, updatedAt }, value),
    )
}

export function documentsQuery(
  { kind, ids }: DocumentFilter,
  { afterId, limit }: DocumentPage,
): { sql: string; values: readonly Value[] } {
  const sql = `
  select id, version, created_at, updated_at, value
  from belfry_documents
  where kind = ?
    and id > ?
    ${ids === undefined ? "" : "and id in (select value from json_each(?))"}
  order by id
  limit ?`
  return { sql, values: [kind, afterId ?? "", ...(ids === undefined ? [] : [JSON.stringify(ids)]), limit] }
}
