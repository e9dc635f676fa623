import { ApiError, isJsonObject } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { parseJson } from '@krmkit/schema/json'
import type { Revision } from '@krmkit/storage'

/**
 * Continue tokens: base64url of `{"v":"meta.k8s.io/v1","rv":42,"start":"name\u0000"}`, as the stock server writes them.
 * They are client input: a token never reads outside the collection it is used on.
 *
 * @see API protocol specification, 4.3
 */
export interface ContinueToken {
  /** Revision of the snapshot; -1: the newest, for lists that continue inconsistently after their snapshot expired. */
  readonly revision: Revision
  /** Last key returned, relative to the collection. */
  readonly after: string
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: token.revision, start: `${token.after}\0` })
  return toBase64Url(new TextEncoder().encode(text))
}

/** @throws ApiError 400 for anything that is not a token. */
export function decodeContinueToken(text: string): ContinueToken {
  const refuse = (why: string) => ApiError.badRequest(`invalid continue token: continue key is not valid: ${why}`)
  const wrong = text.search(/[^A-Za-z0-9_-]/)
  if (wrong >= 0) throw refuse(`illegal base64 data at input byte ${wrong}`)
  if (text.length % 4 === 1) throw refuse(`illegal base64 data at input byte ${text.length - 1}`)
  let value: unknown
  try {
    value = parseJson(fromBase64Url(text)).value
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message)
    throw error
  }
  if (!isJsonObject(value)) throw refuse('json: cannot unmarshal into a token')
  const { v, rv, start } = value as { v?: unknown; rv?: unknown; start?: unknown }
  if (v !== tokenVersion) throw refuse(`server does not recognize this encoded version ${typeof v === 'string' ? v : ''}`)
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0)
    throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (typeof start !== 'string' || start === '') throw refuse('empty start key')
  const after = start.endsWith('\0') ? start.slice(0, -1) : start
  if (`/${after}/`.includes('/../') || `/${after}/`.includes('/./') || after.startsWith('/')) throw refuse(start)
  return { revision: rv, after }
}

/** The 410 for a token whose snapshot is compacted, with a token that continues on the newest snapshot. @see API protocol specification, 4.3 and 7 */
export function expiredToken(token: ContinueToken): Error {
  const message =
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.'
  return new ApiError({
    ...ApiError.expired(message).status,
    metadata: { continue: encodeContinueToken({ revision: -1, after: token.after }) },
  })
}

function toBase64Url(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64url')
}

function fromBase64Url(text: string): Uint8Array {
  return Buffer.from(text, 'base64url')
}
