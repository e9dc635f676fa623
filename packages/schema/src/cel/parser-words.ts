/** Words and signs the parser knows by their place, and how its messages list them. */

/** Words that are kept for the language. */
export const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** Signs that an expression may begin with. */
export const beginnings = new Set(['[', '{', '(', '.', '-', '!', 'true', 'false', 'null'])

/** What an expression may begin with, as messages list it; what else may stand there comes in between. */
export function starts(more: { readonly close?: string; readonly inside?: boolean } = {}): string {
  const { close, inside = false } = more
  const bracket = close === ']' || close === '}' ? ` '${close}',` : ''
  const paren = close === ')' ? " ')'," : ''
  const comma = inside ? " ','," : ''
  const mark = inside ? " '?'," : ''
  const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
  return `{'[', '{',${bracket} '(',${paren} '.',${comma} '-', '!',${mark} ${literals}}`
}
