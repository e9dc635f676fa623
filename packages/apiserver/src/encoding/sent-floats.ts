import { memberNames, runAtOnce, runInLaterTurns, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonValue, setMember } from '@krmkit/meta'
import { largeBodyBytes } from '@krmkit/registry'
import { NumberLiteral } from '@krmkit/schema/json'
import { parseJson } from '@krmkit/schema/paced'
import type { RequestScope } from '../request/scope.ts'
import type { BodyEncoding } from './request-body.ts'

/**
 * JSON numbers that Go decodes as floats although their value is an integer, such as `1.0` and `1e3`. Validation of custom resources
 * distinguishes them from integers.
 */

const floats = /[0-9](?:\.0+(?![0-9])|[eE])/

/** Returns the sent value, parsed with number literals; undefined when no number needs a literal. */
export type SentFloats = (() => unknown) | undefined

/**
 * The members that a body or a patch sets, parsed with number literals. Small bodies are parsed on first use, large bodies ahead and in
 * slices.
 *
 * @returns undefined when the body has no such numbers
 */
export function sentFloats(
  { definition, turns }: RequestScope,
  { bytes, encoding }: { readonly bytes: Uint8Array; readonly encoding: BodyEncoding | 'json-patch' },
): SentFloats | Promise<SentFloats> {
  const isJson = encoding === 'json' || encoding === 'json-patch'
  if (definition.custom === undefined || !isJson) return undefined
  const isJsonPatch = encoding === 'json-patch'
  if (bytes.byteLength > largeBodyBytes) return runInLaterTurns(findFloats(bytes, isJsonPatch), turns)
  if (!floats.test(new TextDecoder().decode(bytes))) return undefined
  let sent: { readonly value: unknown } | undefined
  return () => {
    sent ??= { value: runAtOnce(parsedWithLiterals(bytes, isJsonPatch)) }
    return sent.value
  }
}

function* findFloats(bytes: Uint8Array, isJsonPatch: boolean): Work<SentFloats> {
  if (!(yield* hasFloats(bytes))) return undefined
  const sent = yield* parsedWithLiterals(bytes, isJsonPatch)
  const kept = yield* onlyLiterals(sent)
  return kept === undefined ? undefined : () => kept
}

/** Number of bytes searched between two yields. */
const bytesPerStep = 64 * 1024

const [zero, nine, point] = [0x30, 0x39, 0x2e]
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= zero && byte <= nine

/** Whether the pattern `floats` matches. */
function* hasFloats(bytes: Uint8Array): Work<boolean> {
  for (let i = 1; i < bytes.byteLength; i++) {
    if (i % bytesPerStep === 0) yield true
    const byte = bytes[i] as number
    if (!(byte === point || byte === 0x65 || byte === 0x45) || !isDigit(bytes[i - 1])) continue
    if (byte !== point) return true
    let end = i + 1
    while (bytes[end] === zero) end++
    if (end > i + 1 && !isDigit(bytes[end])) return true
    i = end - 1
  }
  return false
}

/** Number of members visited between two yields. */
const membersPerStep = 256

/** The literals of a parsed value, with the members and items that lead to them. */
function* onlyLiterals(value: unknown): Work<unknown> {
  if (value instanceof NumberLiteral) return value
  if (Array.isArray(value)) return yield* itemsWithLiterals(value)
  if (typeof value !== 'object' || value === null) return undefined
  const keys = memberNames(value)
  let kept: Record<string, unknown> | undefined
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const part = (value as Readonly<Record<string, unknown>>)[key]
    if (i % membersPerStep === 0) yield true
    const found = typeof part === 'object' && part !== null ? yield* onlyLiterals(part) : undefined
    if (found === undefined) continue
    kept ??= {}
    setMember(kept, key, found)
  }
  return kept
}

function* itemsWithLiterals(items: readonly unknown[]): Work<unknown> {
  const kept: unknown[] = []
  let isEmpty = true
  for (let i = 0; i < items.length; i++) {
    const item = items[i]
    if (i % membersPerStep === 0) yield true
    const found = typeof item === 'object' && item !== null ? yield* onlyLiterals(item) : undefined
    isEmpty &&= found === undefined
    kept.push(found)
  }
  return isEmpty ? undefined : kept
}

/**
 * The operations of a JSON patch, with strings in place of the numbers that the server would write differently. kube-apiserver compares
 * numbers as text, with the text in the stored object or in an earlier operation: after an `add` of `1.0`, a `test` for `1` fails.
 *
 * @returns undefined when comparing numbers gives the same result for every test
 */
export function* numberTexts(operations: JsonValue, bytes: Uint8Array): Work<JsonValue | undefined> {
  if (!Array.isArray(operations) || !operations.some(isTest)) return undefined
  const marked = yield* markedText(new TextDecoder().decode(bytes))
  return marked === undefined ? undefined : ((yield* parseJson(new TextEncoder().encode(marked), {})).value as JsonValue)
}

/** Characters of a number in JSON. */
const numberCharacters = /[0-9.eE+-]+/y

/** The JSON text with marked numbers; undefined when no number is marked. */
function* markedText(text: string): Work<string | undefined> {
  let marked = ''
  let copied = 0
  let nextStep = bytesPerStep
  for (let i = 0; i < text.length; i++) {
    if (i >= nextStep) {
      nextStep = i + bytesPerStep
      yield true
    }
    const character = text.charAt(i)
    if (character === '"') {
      i++
      for (; text.charAt(i) !== '"'; i++) {
        if (text.charAt(i) === '\\') i++
        if (i >= text.length) return undefined
        if (i < nextStep) continue
        nextStep = i + bytesPerStep
        yield true
      }
    } else if (character === '-' || (character >= '0' && character <= '9')) {
      numberCharacters.lastIndex = i
      const [token = character] = numberCharacters.exec(text) ?? []
      if (!isAsWritten(token)) {
        marked += `${text.slice(copied, i)}"\\u0000number ${token}"`
        copied = i + token.length
      }
      i += token.length - 1
    }
  }
  return copied === 0 ? undefined : marked + text.slice(copied)
}

/** Whether a number is written as the server would write it: a 64-bit integer in decimal, any other number as a float. */
function isAsWritten(number: string): boolean {
  if (number === String(Number(number))) return true
  if (!/^-?[1-9][0-9]*$/.test(number) || number.length > 20) return false
  const value = BigInt(number)
  return BigInt.asIntN(64, value) === value
}

/** The operations that change the object: all except `test`. */
export function withoutTests(operations: JsonValue): JsonValue {
  return Array.isArray(operations) ? operations.filter((operation) => !isTest(operation)) : operations
}

function isTest(operation: JsonValue): boolean {
  return isJsonObject(operation) && operation['op'] === 'test'
}

function* parsedWithLiterals(bytes: Uint8Array, isJsonPatch: boolean): Work<unknown> {
  const { value } = yield* parseJson(bytes, { literals: true })
  return isJsonPatch ? yield* membersSet(value) : value
}

/** Maximum number of segments of a JSON pointer that are followed; no accepted object is nested deeper. */
const maxMembers = 10_000
/** Number of operations between two yields. */
const operationsPerStep = 16

/** The members that the operations of a JSON patch set, as a tree. Items that later operations move are not followed. */
function* membersSet(operations: unknown): Work<object> {
  const root: Record<string, unknown> = {}
  let count = 0
  for (const { op, path, value } of operations as { op?: unknown; path?: unknown; value?: unknown }[]) {
    if (count++ % operationsPerStep === 0) yield true
    if (typeof path !== 'string' || (op !== 'add' && op !== 'replace')) continue
    const members = path.split('/', maxMembers).slice(1)
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
