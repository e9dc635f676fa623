import { existsSync, readFileSync } from 'node:fs'
import type { JsonObject } from '@krmkit/meta'

/** Test vectors stored beside the repository; tests only. */
const folder = new URL('../../../../../shared/vectors/', import.meta.url)

export const sharedMissing = existsSync(folder) ? undefined : 'skipped: ../shared/vectors is absent'

/** Reads one JSON object per line. */
export function readVectors(name: string): JsonObject[] {
  if (sharedMissing !== undefined) return []
  const text = readFileSync(new URL(name, folder), 'utf8')
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)
}
