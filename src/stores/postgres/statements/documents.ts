import type { Document, NewDocument } from "../../../core/records/document.ts"
import type { NewJournalEntry } from "../../../core/records/journal.ts"
import type { DocumentFilter, DocumentPage, Swap } from "../../../store/store.ts"
import { jsonText } from "../../kit/isolation.ts"
import { readableDocument } from "../../kit/readable-document.ts"
import type { Runner } from "../database.ts"
import { instantOf, ms, NOW } from "../rows.ts"
import { entryLists, insertEntries } from "./journal.ts"

/** Writes one document, and its journal entry if the document was written. Parameters: kind, id, value, version, the entry. */
const withEntry = (write: string) => `
  with written as (${write}
    returning version
  ),
  entry as (${insertEntries(5, "cross join written")}
  )
  select version from written`

const INSERT_DOCUMENT = withEntry(`
    insert into belfry.documents (kind, id, value, version, created_at, updated_at)
    select $1, $2, $3::jsonb, pg_catalog.nextval('belfry.versions'), ${NOW}, ${NOW}
    where $4::bigint is null
    on conflict (kind, id) do nothing`)

const UPDATE_DOCUMENT = withEntry(`
    update belfry.documents
    set value = $3::jsonb,
      version = pg_catalog.nextval('belfry.versions'),
      updated_at = ${NOW}
    where kind = $1
      and id = $2
      and version = $4`)

const DELETE_DOCUMENT = withEntry(`
    delete from belfry.documents
    where kind = $1
      and id = $2
      and $3::jsonb is null
      and version = $4`)

export async function putDocument(
  runner: Runner,
  { kind, id, value }: NewDocument,
  ifVersion: number | null,
  entry: NewJournalEntry | undefined,
): Promise<Swap> {
  // Deleting a document that doesn't exist succeeds, and its entry is stored. If the document exists, the call is stale.
  if (value === null && ifVersion === null) return deleteMissing(runner, { kind, id }, entry)
  const statement = value === null ? DELETE_DOCUMENT : ifVersion === null ? INSERT_DOCUMENT : UPDATE_DOCUMENT
  const given = [kind, id, value === null ? null : jsonText(value), ifVersion]
  const rows = await runner.rows(statement, [...given, ...entryLists(entry === undefined ? [] : [entry])])
  return rows.length === 0 ? { outcome: "stale" } : { outcome: "done", version: Number(rows[0]![0]) }
}

const DELETE_MISSING = `
  with written as (
    select pg_catalog.nextval('belfry.versions') as version
    where not exists (select 1 from belfry.documents where kind = $1 and id = $2)
  ),
  entry as (${insertEntries(3, "cross join written")}
  )
  select version from written`

async function deleteMissing(
  runner: Runner,
  { kind, id }: Pick<NewDocument, "kind" | "id">,
  entry: NewJournalEntry | undefined,
): Promise<Swap> {
  const given = [kind, id, ...entryLists(entry === undefined ? [] : [entry])]
  const rows = await runner.rows(DELETE_MISSING, given)
  return rows.length === 0 ? { outcome: "stale" } : { outcome: "done", version: Number(rows[0]![0]) }
}

const SELECT_DOCUMENTS = `
  select d.id, d.version, ${ms("d.created_at")}, ${ms("d.updated_at")}, d.value
  from belfry.documents as d
  where d.kind = $1
    and d.id > $2
    and ($4::text[] is null or d.id = any ($4::text[]))
  order by d.id
  limit $3`

export async function findDocuments(
  runner: Runner,
  { kind, ids }: DocumentFilter,
  { afterId, limit }: DocumentPage,
): Promise<readonly Document[]> {
  const rows = await runner.rows(SELECT_DOCUMENTS, [kind, afterId ?? "", limit, ids ?? null])
  return rows.map(([id, version, createdAt, updatedAt, value]) =>
    readableDocument(
      {
        ...{ kind, id: id!, version: Number(version) },
        ...{ createdAt: instantOf(createdAt!), updatedAt: instantOf(updatedAt!) },
      },
      value!,
    ),
  )
}
