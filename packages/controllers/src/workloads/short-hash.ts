const letters = 'bcdfghjklmnpqrstvwxz2456789'

/**
 * Returns a short hash of a text, with the alphabet of kube-controller-manager but other values. Another `collisions` value
 * gives another hash for the same text, for the case that a name is taken.
 */
export function shortHash(text: string, collisions = 0): string {
  let hash = 0x811c9dc5
  const bytes = new TextEncoder().encode(`${text}${collisions === 0 ? '' : collisions}`)
  for (let i = 0; i < bytes.length; i++) hash = Math.imul(hash ^ (bytes[i] as number), 0x01000193) >>> 0
  return [...String(hash)].map((digit) => letters[digit.charCodeAt(0) % letters.length]).join('')
}
