import type { JsonObject } from '@krmkit/meta'
import { own } from '../json/json-object.ts'

/** Converts a path for messages. The empty path is the object itself; paths below a top-level map start with a dot. */
export function messagePath(path: string): string | undefined {
  return path === '' ? undefined : path.startsWith('.') ? path.slice(1) : path
}

/** Returns the numeric value of a keyword. */
export function numberOf(schema: JsonObject, keyword: string): number | undefined {
  const value = own(schema, keyword)
  return typeof value === 'number' ? value : typeof value === 'bigint' ? Number(value) : undefined
}
