/** Tokens that the parser distinguishes by position, and how error messages list them. */

/** Reserved words. */
export const reserved = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
)

/** Tokens that can start an expression. */
export const expressionStarts = new Set(['[', '{', '(', '.', '-', '!', 'true', 'false', 'null'])

/** Lists the tokens that can start an expression, as in error messages, with additional tokens at their position. */
export function expectedTokens(more: { readonly close?: string; readonly inside?: boolean } = {}): string {
  const { close, inside = false } = more
  const bracket = close === ']' || close === '}' ? ` '${close}',` : ''
  const paren = close === ')' ? " ')'," : ''
  const comma = inside ? " ','," : ''
  const mark = inside ? " '?'," : ''
  const literals = "'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER"
  return `{'[', '{',${bracket} '(',${paren} '.',${comma} '-', '!',${mark} ${literals}}`
}
