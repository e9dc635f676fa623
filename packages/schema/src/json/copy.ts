import { setMember } from './syntax.ts'

/**
 * Deep copy of a JSON value; faster than `structuredClone`.
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
    for (let i = 0; i < value.length; i++) list[i] = copyJson(value[i])
    return list as T
  }
  const copy: Record<string, unknown> = {}
  for (const key in value) setMember(copy, key, copyJson(value[key]))
  return copy as T
}
