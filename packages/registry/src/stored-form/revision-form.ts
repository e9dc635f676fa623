import { utf8Bytes } from '@krmkit/base/bytes'
import type { ApiObject } from '@krmkit/meta'
import { parseJson } from '@krmkit/schema'
import type { RevisionForm } from '@krmkit/storage/socket'
import { encodeStored } from '../cache/object-cache.ts'

/**
 * Replaces the resourceVersion in encoded objects, mostly without parsing. Used by stores that processes follow over a socket.
 *
 * @example
 * import { revisionForm } from '@krmkit/registry/stored-form'
 * const value = new TextEncoder().encode('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web","resourceVersion":"0"}}')
 * new TextDecoder().decode(revisionForm.atRevision('/core/configmaps/shop/web', value, 12)) // ..."resourceVersion":"12"}}
 */
export const revisionForm: RevisionForm = {
  atRevision: (_key, value, revision) => replaced(value, revision) ?? withRevision(value, revision) ?? value,
}

const [quote, backslash, colon, openingBrace, closingBrace, openingBracket, closingBracket] = utf8Bytes('"\\:{}[]')
const metadata = utf8Bytes('metadata')
const resourceVersion = utf8Bytes('resourceVersion')

/** Returns `undefined` when the bytes are not compact JSON with a version in their metadata. */
function replaced(value: Uint8Array, revision: number): Uint8Array | undefined {
  if (value[0] !== openingBrace) return undefined
  const start = startOfVersion(value)
  if (start === undefined) return undefined
  const end = endOfString(value, start)
  const digits = String(revision)
  const bytes = new Uint8Array(value.byteLength - (end - start) + digits.length)
  bytes.set(value.subarray(0, start))
  for (let at = 0; at < digits.length; at++) bytes[start + at] = digits.charCodeAt(at)
  bytes.set(value.subarray(end), start + digits.length)
  return bytes
}

/** Position after the opening quote of `metadata.resourceVersion`. */
function startOfVersion(value: Uint8Array): number | undefined {
  let depth = 0
  let isInMetadata = false
  for (let at = 0; at < value.length; at++) {
    const byte = value[at]
    if (byte === quote) {
      const start = at + 1
      at = endOfString(value, start)
      if (value[at + 1] !== colon) continue
      if (depth === 1) isInMetadata = isText(value, start, at, metadata)
      else if (depth === 2 && isInMetadata && isText(value, start, at, resourceVersion)) {
        return value[at + 2] === quote ? at + 3 : undefined
      }
    } else if (byte === openingBrace || byte === openingBracket) depth++
    else if (byte === closingBrace || byte === closingBracket) {
      depth--
      if (depth === 1 && isInMetadata) return undefined
    }
  }
  return undefined
}

/** Position of the closing quote. */
function endOfString(value: Uint8Array, start: number): number {
  let at = start
  while (at < value.length && value[at] !== quote) at += value[at] === backslash ? 2 : 1
  return at
}

function isText(value: Uint8Array, start: number, end: number, text: Uint8Array): boolean {
  if (end - start !== text.length) return false
  for (let at = 0; at < text.length; at++) if (value[start + at] !== text[at]) return false
  return true
}

/** The JSON with another resourceVersion; `undefined` when the value is not an API object. */
export function withRevision(value: Uint8Array, revision: number): Uint8Array | undefined {
  const object = objectIn(value)
  if (object === undefined) return undefined
  object.metadata.resourceVersion = String(revision)
  return encodeStored(object)
}

/** Parses a JSON object; `undefined` for other values. */
export function objectIn(value: Uint8Array): ApiObject | undefined {
  if (value[0] !== openingBrace) return undefined
  const object = parseJson(value).value as ApiObject
  return typeof object.metadata === 'object' && object.metadata !== null ? object : undefined
}
