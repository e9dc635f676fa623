import { readFileSync } from 'node:fs'

/** Reads test vectors of this package; tests only. Each has a name and a source. */
export function readOwnVectors<T extends { name: string; source: string }>(file: string): T[] {
  const vectors = JSON.parse(readFileSync(new URL(`../../testdata/${file}`, import.meta.url), 'utf8')) as T[]
  for (const { name, source } of vectors) if (!name || !source) throw new Error(`${file}: a vector needs a name and a source`)
  return vectors
}

/** Deeply freezes a value, as storage does with shared objects. */
export function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) deepFreeze(member)
  }
  return value
}
