import { ApiError, type ApiObject } from '@krmkit/meta'
import type { Work } from '@krmkit/meta/work'
import { stringifyJson } from '@krmkit/schema'
import { stringifySteps } from '@krmkit/schema/json'
import { encodeStored } from '../cache/object-cache.ts'

/** Default limit of a stored object in bytes: the request limit of etcd. */
export const maxObjectBytesByDefault = 1.5 * 1024 * 1024

/**
 * Encodes an object for storage. Drops managedFields when they alone make it too large, unless the request applies. Mutates the
 * metadata of `object`.
 *
 * @throws ApiError 413
 */
export function encodeWithin(
  object: ApiObject,
  {
    maxBytes,
    ownersMayGo,
    printed,
  }: { readonly maxBytes: number; readonly ownersMayGo: boolean; readonly printed?: PrintedParts | undefined },
): Uint8Array {
  const bytes = encodePrinted(object, printed)
  if (bytes.byteLength <= maxBytes) return bytes
  if (ownersMayGo && object.metadata.managedFields !== undefined) {
    delete object.metadata.managedFields
    const fewer = encodePrinted(object, printed)
    if (fewer.byteLength <= maxBytes) return fewer
  }
  throw objectTooLarge(maxBytes)
}

/** JSON of the members that do not change when the object gets its revision, by member value. */
export type PrintedParts = ReadonlyMap<unknown, string>

/** Encodes the members of a large object step by step ahead of the write, which then only joins them. */
export function* printSteps({ metadata, ...members }: ApiObject): Work<PrintedParts> {
  const printed = new Map<unknown, string>()
  for (const part of [...Object.values(members), ...Object.values(metadata)]) {
    if (typeof part === 'object' && part !== null) printed.set(part, yield* stringifySteps(part))
  }
  return printed
}

/** The stored form of an object whose members may be encoded already. */
export function encodePrinted(object: ApiObject, printed: PrintedParts | undefined): Uint8Array {
  if (printed === undefined) return encodeStored(object)
  return new TextEncoder().encode(`${joined(object, object.metadata, printed)}\n`)
}

/** @param open the member that is encoded member by member */
function joined(object: object, open: object | undefined, printed: PrintedParts): string {
  const members = Object.entries(object).filter(([, value]) => value !== undefined)
  const texts = members.map(([key, value]) => {
    const text = value === open ? joined(value, undefined, printed) : (printed.get(value) ?? stringifyJson(value))
    return `${stringifyJson(key)}:${text}`
  })
  return `{${texts.join(',')}}`
}

/**
 * The 413 for an object above the limit. Clients match the error text of etcd.
 *
 * @example
 * import { objectTooLarge } from '@krmkit/registry'
 * objectTooLarge(1_572_864).code // 413
 */
export function objectTooLarge(maxBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`etcdserver: request is too large: stored objects may have ${maxBytes} bytes`)
}
