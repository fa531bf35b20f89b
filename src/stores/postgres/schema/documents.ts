export const DOCUMENTS = `
  create table belfry.documents (
    kind text collate "C" not null,
    id text collate "C" not null,
    version bigint not null,
    created_at timestamptz not null,
    updated_at timestamptz not null,
    value jsonb not null,
    primary key (kind, id)
  );
`
