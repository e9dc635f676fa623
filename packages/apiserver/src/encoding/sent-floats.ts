import { isJsonObject, type JsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { largeBodyBytes } from '@krmkit/registry'
import { parseJson } from '@krmkit/schema'
import { NumberLiteral } from '@krmkit/schema/json'
import type { RequestScope } from '../request-scope.ts'
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
 * The operations of a JSON patch with the literals of numbers that operations `test`. kube-apiserver compares their text with that of the
 * stored number, so `1.0` and 2^63 equal nothing.
 */
export function withTestedLiterals(operations: JsonValue, bytes: Uint8Array): JsonValue {
  if (bytes.byteLength > largeBodyBytes || !Array.isArray(operations)) return operations
  const text = new TextDecoder().decode(bytes)
  if (!text.includes('"test"') || !literals.test(text)) return operations
  const sent = parseJson(bytes, { literals: true }).value as JsonObject[]
  // Texts of numbers that earlier operations have set, by path: a test is compared with them.
  const set = new Map<unknown, string>()
  return operations.map((operation, index) => {
    const { op, path, value = null } = { ...sent[index] } as { op?: unknown; path?: unknown; value?: unknown }
    const literal = value instanceof NumberLiteral ? value.text : ''
    if (op !== 'test') {
      set.set(path, literal)
      return operation
    }
    if (literal !== '' && set.get(path) === literal) return operation
    return { ...(operation as JsonObject), value: withoutWritten(value as JsonValue) }
  })
}

/** Numbers are literals only where the text is not the one that the server writes. */
function withoutWritten(value: JsonValue): JsonValue {
  if (value instanceof NumberLiteral) return value.text === String(value.value) ? value.value : value
  if (Array.isArray(value)) return value.map(withoutWritten)
  if (!isJsonObject(value)) return value
  const copy: JsonObject = {}
  for (const [key, member] of Object.entries(value)) setMember(copy, key, withoutWritten(member))
  return copy
}

const literals = /[0-9](?:\.0+(?![0-9])|[eE])|[0-9]{16}/

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
