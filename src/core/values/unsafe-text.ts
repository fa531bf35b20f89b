/** Characters that affect a terminal: C0, DEL, C1, marks of text direction, line separators, unpaired surrogates. */
export const UNSAFE =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]|\p{Surrogate}/gu

/** JSON doesn't escape DEL, C1 and direction marks. Escaped, they have the same meaning. */
export function printableJson(text: string): string {
  return text.replace(UNSAFE, (character) =>
    character === "\n" ? character : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )
}
