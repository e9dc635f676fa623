import { base64Bytes, base64UrlText } from '@krmkit/base/bytes'
import { ApiError, isJsonObject } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { parseJson } from '@krmkit/schema/json'
import type { Revision } from '@krmkit/storage'

/**
 * Continue tokens: base64url of `{"v":"meta.k8s.io/v1","rv":42,"start":"name\u0000"}`, as kube-apiserver writes them.
 * They are client input: a token never reads outside the collection it is used on.
 *
 * @see API protocol specification, 4.3
 */
export interface ContinueToken {
  /** Revision of the snapshot. Negative: the newest revision, for lists that continue inconsistently after their snapshot has expired. */
  readonly revision: Revision
  /** Last key returned, relative to the collection. */
  readonly after: string
}

const tokenVersion = 'meta.k8s.io/v1'

export function encodeContinueToken(token: ContinueToken): string {
  const text = JSON.stringify({ v: tokenVersion, rv: token.revision, start: `${token.after}\0` })
  return base64UrlText(new TextEncoder().encode(text))
}

/** @throws ApiError 400 for anything that is not a token. */
export function decodeContinueToken(text: string): ContinueToken {
  const refuse = (why: string) => ApiError.badRequest(`invalid continue token: continue key is not valid: ${why}`)
  // Go's decoder skips line breaks, and counts them in its positions.
  const wrong = text.search(/[^A-Za-z0-9_\r\n-]/)
  if (wrong >= 0) throw refuse(`illegal base64 data at input byte ${wrong}`)
  const digits = text.replace(/[\r\n]/g, '')
  if (digits.length % 4 === 1) throw refuse(`illegal base64 data at input byte ${text.length - 1}`)
  let value: unknown
  try {
    value = parseJson(base64Bytes(digits)).value
  } catch (error) {
    if (error instanceof DecodeError) throw refuse(error.message)
    throw error
  }
  const { v = '', rv = 0, start = '' } = membersOf(value, refuse)
  if (v !== tokenVersion) throw refuse(`server does not recognize this encoded version ${v}`)
  if (rv === 0) throw refuse('incorrect encoded start resourceVersion (version meta.k8s.io/v1)')
  if (start === '') throw refuse('encoded start key empty (version meta.k8s.io/v1)')
  const key = (start.startsWith('/') ? start.slice(1) : start).replace(/\0$/, '')
  if (key.split('/').some((part) => part === '' || part === '.' || part === '..')) throw refuse(start)
  return { revision: rv, after: key }
}

interface Members {
  readonly v?: string
  readonly rv?: number
  readonly start?: string
}

/** Checks the types of the members; `null` counts as absent. */
function membersOf(value: unknown, refuse: (why: string) => ApiError): Members {
  if (value === null) return {}
  if (!isJsonObject(value)) throw refuse(`json: cannot unmarshal ${goKind(value)} into Go value of type storage.continueToken`)
  const members: { v?: string; rv?: number; start?: string } = {}
  const wrong = (found: string, name: string, type: string) =>
    refuse(`json: cannot unmarshal ${found} into Go struct field continueToken.${name} of type ${type}`)
  // Go matches member names without regard to case.
  for (const [key, member] of Object.entries(value)) {
    const name = key.toLowerCase()
    if (member === null) continue
    if (name === 'v' || name === 'start') {
      if (typeof member !== 'string') throw wrong(goKind(member), name, 'string')
      members[name] = member
    } else if (name === 'rv') {
      if (typeof member !== 'number') throw wrong(goKind(member), name, 'int64')
      if (!Number.isSafeInteger(member)) throw wrong(`number ${member}`, name, 'int64')
      members.rv = member
    }
  }
  return members
}

/** The JSON type of a value as Go's decoder names it in errors. */
function goKind(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value
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
