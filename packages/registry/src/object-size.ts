import { ApiError, type ApiObject } from '@krmkit/meta'
import { stringifyJson, stringifySteps } from '@krmkit/schema'
import { encodeStored } from './object-cache.ts'

/** Bytes that a stored object may have, where nothing else is said: what etcd takes in one request. */
export const maxObjectBytesByDefault = 1.5 * 1024 * 1024

/**
 * Bytes of an object to be stored. Where notes on owners make it too large, they are given up rather than the write, unless the
 * caller applies, for whom they are what it is about.
 *
 * @param object the caller's own, as is its metadata.
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
  const bytes = encodeWith(object, printed)
  if (bytes.byteLength <= maxBytes) return bytes
  if (ownersMayGo && object.metadata.managedFields !== undefined) {
    delete object.metadata.managedFields
    const fewer = encodeWith(object, printed)
    if (fewer.byteLength <= maxBytes) return fewer
  }
  throw objectTooLarge(maxBytes)
}

/** Texts of the parts of an object that stay as they are when it gets its revision, by the parts. */
export type PrintedParts = ReadonlyMap<unknown, string>

/** Prints the parts of a large object before it is stored, so that storing it has only to join them. In steps. */
export function* printSteps({ metadata, ...members }: ApiObject): Generator<void, PrintedParts> {
  const printed = new Map<unknown, string>()
  for (const part of [...Object.values(members), metadata.managedFields]) {
    if (typeof part === 'object' && part !== null) printed.set(part, yield* stringifySteps(part))
  }
  return printed
}

function encodeWith(object: ApiObject, printed: PrintedParts | undefined): Uint8Array {
  if (printed === undefined) return encodeStored(object)
  return new TextEncoder().encode(`${joined(object, object.metadata, printed)}\n`)
}

/** @param open the member whose own members are looked up too */
function joined(object: object, open: object | undefined, printed: PrintedParts): string {
  const members = Object.entries(object).filter(([, value]) => value !== undefined)
  const texts = members.map(([key, value]) => {
    const text = value === open ? joined(value, undefined, printed) : (printed.get(value) ?? stringifyJson(value))
    return `${stringifyJson(key)}:${text}`
  })
  return `{${texts.join(',')}}`
}

/** The refusal of an object that is larger than stored objects may be. Clients look for the words that etcd has for it. */
export function objectTooLarge(maxBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`etcdserver: request is too large: stored objects may have ${maxBytes} bytes`)
}
