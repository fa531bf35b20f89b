export const STATISTICS = `
  alter table belfry.workers add column roles text[] not null default '{}';
  alter table belfry.workers add column version text not null default '';
  alter table belfry.workers add column labels jsonb not null default '{}';
  alter table belfry.workers add column expected_by timestamptz;
  -- The number of the newest batch of statistics that was added.
  alter table belfry.workers add column batch bigint not null default 0;

  create table belfry.statistics (
    subject text collate "C" not null,
    span_ms bigint not null,
    at timestamptz not null,
    expires_at timestamptz not null,
    counters jsonb not null,
    primary key (subject, span_ms, at)
  );
  create index statistics_expires on belfry.statistics (expires_at);

  -- The sums of two sets of counters. A value that is not a number counts as 0.
  create function belfry.added_counters(a jsonb, b jsonb) returns jsonb language sql immutable set search_path = pg_catalog, pg_temp as $$
    select coalesce(jsonb_object_agg(counter.key, counter.sum), '{}')
    from (
      select c.key, sum(case when jsonb_typeof(c.value) = 'number' then c.value::numeric else 0 end) as sum
      from (select * from jsonb_each(a) union all select * from jsonb_each(b)) as c
      group by c.key
    ) as counter
  $$;
`
