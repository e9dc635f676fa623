/**
 * Returns a text that is equal for equal JSON values, regardless of the order of members. Absent, null and empty members are equal.
 */
export function canonicalText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const members = Object.entries(value).filter(([, member]) => !isEmptyMember(member))
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`)
    .join()}}`
}

function isEmptyMember(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
}

const letters = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Returns a short hash of a text, with the alphabet of the stock controllers but other values. `collisions` yields another hash for the
 * same text when a name is taken.
 */
export function shortHash(text: string, collisions = 0): string {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(`${text}${collisions === 0 ? '' : collisions}`)) {
    hash = Math.imul(hash ^ byte, 0x01000193) >>> 0
  }
  return [...String(hash)].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}
