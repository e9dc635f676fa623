import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { largeBodyBytes } from '@krmkit/registry'
import { parseJson } from '@krmkit/schema'
import { NumberLiteral } from '@krmkit/schema/json'
import type { RequestScope } from '../request/scope.ts'
import type { BodyEncoding } from './request-body.ts'

/** Numbers of JSON that Go reads as floats although they have no fraction, for the validation of custom resources. */

const floats = /[0-9](?:\.0+(?![0-9])|[eE])/

/**
 * The members that a body or a patch sets, parsed with literals when they are first needed.
 *
 * @returns undefined without such numbers, and for large bodies, which are not read twice.
 */
export function sentFloats(
  { definition }: RequestScope,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: BodyEncoding | 'json-patch' },
): (() => unknown) | undefined {
  const isJson = encoding === 'json' || encoding === 'json-patch'
  if (definition.custom === undefined || !isJson || bytes.byteLength > largeBodyBytes) return undefined
  if (!floats.test(new TextDecoder().decode(bytes))) return undefined
  let sent: { readonly value: unknown } | undefined
  return () => {
    sent ??= { value: parsed(bytes, encoding === 'json-patch') }
    return sent.value
  }
}

/**
 * The operations of a JSON patch with texts in place of numbers that are not written as the server writes them. kube-apiserver tests the
 * text of a number, that of the stored object or of an earlier operation: after an addition of `1.0` a test of `1` fails.
 *
 * @returns undefined where every test compares as with numbers, and for large bodies, which are not read twice
 */
export function numberTexts(operations: JsonValue, bytes: Uint8Array): JsonValue | undefined {
  if (bytes.byteLength > largeBodyBytes || !Array.isArray(operations)) return undefined
  if (!operations.some(isTest)) return undefined
  const text = new TextDecoder().decode(bytes)
  const marked = text.replace(tokens, (token) =>
    token.startsWith('"') || isAsWritten(token) ? token : `"\\u0000number ${token}"`,
  )
  return marked === text ? undefined : (parseJson(new TextEncoder().encode(marked)).value as JsonValue)
}

/** Strings and numbers of JSON. */
const tokens = /"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g

/** Whether a number has the text that the server writes: integers of 64 bits have theirs, all others that of a float. */
function isAsWritten(number: string): boolean {
  if (number === String(Number(number))) return true
  if (!/^-?[1-9][0-9]*$/.test(number) || number.length > 20) return false
  const value = BigInt(number)
  return BigInt.asIntN(64, value) === value
}

/** The operations that change the object. */
export function withoutTests(operations: JsonValue): JsonValue {
  return Array.isArray(operations) ? operations.filter((operation) => !isTest(operation)) : operations
}

function isTest(operation: JsonValue): boolean {
  return isJsonObject(operation) && operation['op'] === 'test'
}

function parsed(bytes: Uint8Array, isJsonPatch: boolean): unknown {
  const { value } = parseJson(bytes, { literals: true })
  return isJsonPatch ? membersSet(value) : value
}

/** The members that the operations of a JSON patch set, as a tree. Items that later operations move are not followed. */
function membersSet(operations: unknown): object {
  const root: Record<string, unknown> = {}
  for (const { op, path, value } of operations as { op?: unknown; path?: unknown; value?: unknown }[]) {
    if (typeof path !== 'string' || (op !== 'add' && op !== 'replace')) continue
    const members = path.split('/').slice(1)
    const last = members.pop()
    if (last === undefined) continue
    let at = root
    for (const member of members.map(unescaped)) {
      const next: unknown = Object.hasOwn(at, member) ? at[member] : undefined
      const inner = isTree(next) ? next : {}
      setMember(at, member, inner)
      at = inner
    }
    setMember(at, unescaped(last), value)
  }
  return root
}

function isTree(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && !(value instanceof NumberLiteral)
}

function unescaped(member: string): string {
  return member.replaceAll('~1', '/').replaceAll('~0', '~')
}
