import { setMember } from '@krmkit/meta'
import { memberNames, type Work } from '@krmkit/meta/work'

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

/** Members copied between two yields. */
const membersPerStep = 128

/**
 * As `copyJson`, for large values: a generator that can be interrupted at each yield.
 *
 * @example
 * import { runAtOnce } from '@krmkit/meta/work'
 * import { copyJsonSteps } from '@krmkit/schema/json'
 * runAtOnce(copyJsonSteps({ labels: { app: 'web' } })) // { labels: { app: 'web' } }
 */
export function* copyJsonSteps<T>(value: T): Work<T> {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      list.push(yield* copyJsonSteps(value[i]))
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return list as T
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = (value as Record<string, unknown>)[key]
    setMember(copy, key, typeof member === 'object' ? yield* copyJsonSteps(member) : member)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  return copy as T
}
