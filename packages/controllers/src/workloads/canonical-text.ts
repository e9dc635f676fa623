/**
 * Returns a text that is equal for equal JSON values, regardless of the order of members. Absent, null and empty members are equal.
 * To compare two values, {@link sameCanonically} is cheaper.
 */
export function canonicalText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  let text = ''
  for (const name of Object.keys(value).sort()) {
    const member = (value as Readonly<Record<string, unknown>>)[name]
    if (isEmptyMember(member)) continue
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${canonicalText(member)}`
  }
  return `{${text}}`
}

/** Whether the canonical texts of two JSON values are equal. */
export function sameCanonically(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((each, i) => sameCanonically(each, b[i]))
  if (Array.isArray(b)) return false
  return sameMembers(a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>)
}

function sameMembers(a: Readonly<Record<string, unknown>>, b: Readonly<Record<string, unknown>>): boolean {
  let count = 0
  for (const name in a) {
    if (isEmptyMember(a[name])) continue
    if (!Object.hasOwn(b, name) || isEmptyMember(b[name]) || !sameCanonically(a[name], b[name])) return false
    count++
  }
  for (const name in b) if (!isEmptyMember(b[name])) count--
  return count === 0
}

/** Returns an equal JSON value whose members are sorted by name, as stock clients write the values that they compare as texts. */
export function withSortedMembers<T>(value: T): T {
  return sorted(value) as T
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, member]) => [name, sorted(member)]))
}

function isEmptyMember(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === undefined || value === null
  for (const _ in value) return false
  return true
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Returns a short hash of a text, with the alphabet of the stock controllers but other values. `collisions` yields another hash for the
 * same text when a name is taken.
 */
export function shortHash(text: string, collisions = 0): string {
  let hash = 0x811c9dc5
  const bytes = new TextEncoder().encode(`${text}${collisions === 0 ? '' : collisions}`)
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193) >>> 0
  return [...String(hash)].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}
