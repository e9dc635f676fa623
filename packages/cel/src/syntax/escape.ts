/**
 * Escaped member names: `with-dash` is written `with__dash__dash`, `in` is written `__in__`. Names that cannot be escaped are
 * inaccessible to expressions.
 */

const reserved = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

const signs: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' }

/**
 * Escapes the name of a member.
 *
 * @returns `undefined` for names that cannot be escaped.
 * @example
 * import { escapeName } from '@krmkit/cel'
 * escapeName('with-dash') // 'with__dash__dash'
 */
export function escapeName(name: string): string | undefined {
  if (name === '' || /^[0-9$]/.test(name)) return undefined
  if (reserved.has(name)) return `__${name}__`
  if (!/^[a-zA-Z_][a-zA-Z0-9_./-]*$/.test(name)) return undefined
  return name.replace(/__|[./-]/g, (sign) => signs[sign] as string)
}

/** Escaped form of a keyword; `undefined` for other names. */
export function keywordName(name: string): string | undefined {
  return reserved.has(name) ? `__${name}__` : undefined
}
