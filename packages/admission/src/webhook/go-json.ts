import { memberNames } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { DecodeError } from '@krmkit/schema'
import { base64ToBytes } from '@krmkit/schema/decode'
import { WebhookError } from './webhook-error.ts'

/** Reads JSON members as Go decodes them: null is unset, types are not converted, and a mismatch is an error. */

export function own(members: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(members, name) ? members[name] : undefined
}

/**
 * What Go calls the JSON type of a value that is not null, in its decoding errors.
 *
 * @example
 * import { jsonKind } from '@krmkit/admission/webhooks'
 * jsonKind([1]) // 'array'
 */
export function jsonKind(value: JsonValue): string {
  if (Array.isArray(value)) return 'array'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' ? 'number' : typeof value
}

/** @param where the innermost Go type and the path, as in `Status.response.status.code` */
export function mismatch(value: JsonValue, where: string, wanted: string): WebhookError {
  const kind = jsonKind(value)
  // Numbers that do not fit are quoted.
  const shown = wanted === 'int32' && kind === 'number' ? `number ${String(value)}` : kind
  return new WebhookError({
    code: 'Unreadable',
    message: `json: cannot unmarshal ${shown} into Go struct field ${where} of type ${wanted}`,
  })
}

export function membersOf(value: JsonValue, where: string, wanted: string): JsonObject {
  if (isJsonObject(value)) return value
  throw mismatch(value, where, wanted)
}

/** The path of a response in error messages. */
export const at = 'AdmissionResponse.response'

export function text(members: JsonObject, name: string, where = at, wanted = 'string'): string {
  return textOf(own(members, name), `${where}.${name}`, wanted)
}

function textOf(value: JsonValue | undefined, where: string, wanted: string): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'string') return value
  throw mismatch(value, where, wanted)
}

export function flag(members: JsonObject, name: string, where = at): boolean | undefined {
  const value = own(members, name)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw mismatch(value, `${where}.${name}`, 'bool')
}

export function whole(members: JsonObject, name: string, where: string): number | undefined {
  const value = own(members, name)
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) < 2 ** 31) return value
  throw mismatch(value, `${where}.${name}`, 'int32')
}

export function texts(members: JsonObject, name: string): readonly string[] {
  const value = own(members, name)
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) throw mismatch(value, `${at}.${name}`, '[]string')
  return value.map((item) => {
    if (typeof item === 'string' || item === null) return item ?? ''
    throw mismatch(item, `${at}.${name}`, 'string')
  })
}

/** Members that are read. Differs: all of them on kube-apiserver. */
const maxTexts = 1000

export function textMap(members: JsonObject, name: string, where = at): Readonly<Record<string, string>> {
  const value = own(members, name)
  if (value === undefined || value === null) return {}
  const given = membersOf(value, `${where}.${name}`, 'map[string]string')
  const keys = memberNames(given)
  const read = keys.length > maxTexts ? keys.slice(0, maxTexts) : keys
  return Object.fromEntries(read.map((key) => [key, textOf(own(given, key), `${where}.${name}`, 'string')]))
}

export function bytesOf(members: JsonObject, name: string): Uint8Array | undefined {
  const value = text(members, name)
  if (value === '') return undefined
  try {
    return base64ToBytes(value)
  } catch (error) {
    throw error instanceof DecodeError ? new WebhookError({ code: 'Unreadable', message: error.message }) : error
  }
}
