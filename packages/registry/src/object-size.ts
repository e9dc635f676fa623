import { ApiError, type ApiObject } from '@krmkit/meta'
import { encodeStored } from './stored-object.ts'

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
  { maxBytes, ownersMayGo }: { readonly maxBytes: number; readonly ownersMayGo: boolean },
): Uint8Array {
  const bytes = encodeStored(object)
  if (bytes.byteLength <= maxBytes) return bytes
  if (ownersMayGo && object.metadata.managedFields !== undefined) {
    delete object.metadata.managedFields
    const fewer = encodeStored(object)
    if (fewer.byteLength <= maxBytes) return fewer
  }
  throw objectTooLarge(maxBytes)
}

/** The refusal of an object that is larger than stored objects may be. Clients look for the words that etcd has for it. */
export function objectTooLarge(maxBytes: number): ApiError {
  return ApiError.requestEntityTooLarge(`etcdserver: request is too large: stored objects may have ${maxBytes} bytes`)
}
