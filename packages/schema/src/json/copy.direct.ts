// Derived from copy.ts by `npm run direct`: do not edit.
import { setMember } from '@krmkit/meta'

/**
 * Deep-copies a JSON value; faster than `structuredClone`.
 *
 * @example
 * import { copyJson } from '@krmkit/schema/json'
 * const live = { metadata: { labels: { app: 'web' } } }
 * const copy = copyJson(live)
 * copy.metadata.labels === live.metadata.labels // false
 */
export function copyJson<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value

  if (Array.isArray(value)) {
    const list: unknown[] = new Array(value.length)
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i]
      list[i] = typeof element === 'object' ? copyJson(element) : element
    }
    return list as T
  }
  const copy: Record<string, unknown> = {}

  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    setMember(copy, key, typeof member === 'object' ? copyJson(member) : member)
  }
  return copy as T
}
