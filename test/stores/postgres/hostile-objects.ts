/** Objects that a role which may create objects in `public` can use to capture the statements of other roles. */

/** The types that the store compares and computes with, and the types that an untyped literal could resolve to. */
const TYPES = [
  ...["integer", "bigint", "float8", "numeric", "text", "varchar", "timestamptz", "interval", "regclass"],
  ...["jsonb", "json", "text[]", "bigint[]"],
]
const LOGICAL = ["=", "<>", "<", ">", "<=", ">=", "@>", "<@", "~", "?"]
const OTHER = ["+", "-", "*", "/", "%", "||", "&", "<<", "->", "->>"]

/** A variadic function can only be overridden by a function with exactly the arguments of a call. */
const LONG_CALLS = [
  "num_nonnulls(jsonb, jsonb, bigint, text, text, text, jsonb, text, jsonb, text)",
  "json_build_array(jsonb, jsonb, bigint, text, text, text, jsonb, text, integer, integer, jsonb)",
  "json_build_array(float8, bigint, float8)",
  "json_build_array(text, text, integer, integer, integer)",
  "jsonb_build_object(text, integer, text, text, text, numeric, text, numeric, text, text, text, text)",
]

/** Each object records its call in `public.witness`. A statement that uses one fails or returns wrong results. */
export function hostileObjects(names: readonly string[]): string {
  return `
  create table public.witness (called text);
  grant all on public.witness to public;

  do $do$
  declare
    body constant text := 'language plpgsql as $f$ begin insert into public.witness values (%L); return null; end $f$';
    types constant text[] := array[${quoted(TYPES)}];
    a text;
    b text;
    symbol text;
    name text;
    call text;
  begin
    foreach a in array types loop
      foreach b in array types loop
        call := format('(%s, %s)', a, b);
        execute format('create function public.is_so%s returns boolean ' || body, call, 'operator' || call);
        execute format('create function public.made_of%s returns %s ' || body, call, a, 'operator' || call);
        foreach symbol in array array[${quoted(LOGICAL)}] loop
          execute format('create operator public.%s (function = public.is_so, leftarg = %s, rightarg = %s)', symbol, a, b);
        end loop;
        foreach symbol in array array[${quoted(OTHER)}] loop
          execute format('create operator public.%s (function = public.made_of, leftarg = %s, rightarg = %s)', symbol, a, b);
        end loop;
      end loop;
    end loop;
    foreach name in array array[${quoted(names)}] loop
      foreach a in array types loop
        call := format('%s(%s)', name, a);
        execute format('create function public.%s returns %s ' || body, call, a, call);
        continue when not exists (select from pg_proc where proname = name and (pronargs = 2 or provariadic > 0));
        foreach b in array types loop
          call := format('%s(%s, %s)', name, a, b);
          execute format('create function public.%s returns %s ' || body, call, a, call);
        end loop;
      end loop;
    end loop;
    foreach call in array array[${quoted(LONG_CALLS)}] loop
      execute format('create function public.%s returns json ' || body, call, call);
    end loop;
  end
  $do$`
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word}'`).join(", ")
}
