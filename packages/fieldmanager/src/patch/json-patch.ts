import type { Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { FieldManagerError } from '../field-manager-error.ts'
import { equalValues } from '../value/equal.ts'
import { jsonKind } from '../value/type-names.ts'
import { copyValue } from './copy-value.ts'
import { checkDepth } from './depth.ts'
import { Draft, type PointerTarget } from './draft.ts'

export interface JsonPatchOptions {
  /** Maximum number of operations; 10 000 by default. */
  readonly maxOperations?: number
  /** Maximum total size added by `copy` operations, in characters of JSON; 3 MiB by default. */
  readonly maxCopySize?: number
}

export interface PlainOperation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: JsonValue
}

/**
 * Applies all operations of a JSON patch, or none when one fails. Unchanged parts are shared with `target` and the patch.
 *
 * As on kube-apiserver, `replace` adds a missing member, an absent member tests equal to null, negative positions count from the end,
 * positions may have leading zeros, and replacing the whole document with a scalar has no effect. The members of objects that a pointer
 * traverses are sorted.
 *
 * @throws FieldManagerError `BadPatch` when the patch is not a list of operations, `TooManyOperations`, `Unprocessable` when an operation
 * fails.
 * @see RFC 6902
 * @example
 * ```ts
 * import { jsonPatch } from '@krmkit/fieldmanager'
 *
 * jsonPatch({ replicas: 1 }, [{ op: 'replace', path: '/replicas', value: 2 }]) // { replicas: 2 }
 * ```
 */
export function* jsonPatch(target: JsonValue, operations: JsonValue, options: JsonPatchOptions = {}): Work<JsonValue> {
  const { maxOperations = 10_000, maxCopySize = 3 * 1024 * 1024 } = options
  const plain = yield* readOperations(operations)
  if (plain.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${plain.length}`
    throw new FieldManagerError({ code: 'TooManyOperations', message })
  }
  const draft = new Draft(target)
  const copies = { size: 0, maxSize: maxCopySize }
  for (const operation of plain) {
    yield* applyOne(draft, operation, copies)
    yield
  }
  return yield* draft.finish()
}

/** Size added by `copy` operations so far and its limit, in characters of JSON. */
export interface Copies {
  size: number
  readonly maxSize: number
}

function* applyOne(draft: Draft, operation: PlainOperation, copies: Copies): Work {
  const { op, path, value } = operation
  if (path === undefined) throw failed(`${op} operation failed to decode path`)
  switch (op) {
    case 'add':
      addTo(draft, yield* resolveTarget(draft, path, op), { path, value, op })
      return
    case 'replace':
      yield* replaceAt(draft, path, value)
      return
    case 'remove': {
      const target = yield* resolveTarget(draft, path, op)
      if (draft.get(target) === undefined) throw failed(`error in remove for path: '${path}': ${whyNotRemoved(target)}`)
      draft.remove(target)
      return
    }
    case 'test':
      yield* testAt(draft, path, value)
      return
    case 'move': {
      const moved = yield* removeAt(draft, decodedFrom(operation))
      addTo(draft, yield* resolveTarget(draft, path, op), { path, value: moved, op })
      return
    }
    case 'copy': {
      const source = yield* sourceOf(draft, decodedFrom(operation))
      const target = yield* resolveTarget(draft, path, op)
      addTo(draft, target, { path, value: yield* copyOf(draft, source, copies), op })
      return
    }
    default:
      throw failed(`Unexpected kind: ${op === '' ? 'unknown' : op}`)
  }
}

export function decodedFrom({ op, from }: PlainOperation): string {
  if (from === undefined) throw failed(`${op} operation failed to decode from`)
  return from
}

interface Addition {
  readonly path: string
  readonly value: JsonValue
  readonly op: string
}

export function addTo(draft: Draft, target: PointerTarget, { path, value, op }: Addition): void {
  if (hasNoPosition(target)) {
    const why = isNumber(target.key)
      ? noPosition(target)
      : `value was not a proper array index: '${target.key}': ${noPosition(target)}`
    throw failed(`${op === 'copy' ? 'error while adding value during copy' : `error in ${op} for path: '${path}'`}: ${why}`)
  }
  draft.add(target, value)
}

function* removeAt(draft: Draft, from: string): Work<JsonValue> {
  const target = yield* draft.resolve(from, false)
  if (target === undefined) throw missingFrom('move', from)
  const value = draft.get(target)
  if (value === undefined) throw failed(`error in move for path: '${target.key}': ${whyNotRemoved(target)}`)
  draft.remove(target)
  return value
}

function* sourceOf(draft: Draft, from: string): Work<PointerTarget> {
  const source = yield* draft.resolve(from, false)
  if (source === undefined) throw missingFrom('copy', from)
  if (hasNoPosition(source)) throw failed(`error in copy for from: '${from}': ${noPosition(source)}`)
  return source
}

/** Copies a missing member as null. */
function* copyOf(draft: Draft, source: PointerTarget, copies: Copies): Work<JsonValue> {
  const value = draft.getCurrent(source)
  if (value === undefined) return null
  const { copy, length } = yield* copyValue(value, (object) => draft.isOpened(object))
  copies.size += length
  if (copies.size > copies.maxSize) {
    const text = `Unable to complete the copy, the accumulated size increase of copy is ${copies.size}, exceeding the limit ${copies.maxSize}`
    throw failed(text)
  }
  return copy
}

export function missingFrom(op: string, from: string): FieldManagerError {
  return failed(`${op} operation does not apply: doc is missing from path: ${from}: missing value`)
}

function* replaceAt(draft: Draft, path: string, value: JsonValue): Work {
  if (path === '') {
    if (typeof value === 'object' && value !== null) draft.replaceAll(value)
    return
  }
  const target = yield* resolveTarget(draft, path, 'replace')
  if (hasNoPosition(target)) throw failed(`replace operation does not apply: doc is missing key: ${path}: missing value`)
  draft.set(target, value)
}

function* testAt(draft: Draft, path: string, value: JsonValue): Work {
  const target = yield* resolveTarget(draft, path, 'test')
  if (hasNoPosition(target)) throw failed(`error in test for path: '${path}': ${noPosition(target)}`)
  const present = draft.getCurrent(target)
  // Numbers are compared as text, because the integer 2^63-1 must not equal the float 2^63.
  const isSame = isNumeric(value)
    ? isNumeric(present) && String(present) === String(value)
    : yield* equalValues(present ?? null, value)
  if (!isSame) throw failed(`testing value ${path} failed: test failed`)
}

export function isNumeric(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** The error message of each operation when the container of its target does not exist. */
export const missingContainers: Readonly<Record<string, (path: string) => string>> = {
  add: (path) => `doc is missing path: "${path}"`,
  remove: (path) => `doc is missing path: "${path}"`,
  replace: (path) => `doc is missing path: ${path}`,
  test: (path) => `is missing path: ${path}`,
  move: (path) => `doc is missing destination path: ${path}`,
  copy: (path) => `doc is missing destination path: ${path}`,
}

function* resolveTarget(draft: Draft, path: string, op: string): Work<PointerTarget> {
  const target = yield* draft.resolve(path, op === 'add' || op === 'move' || op === 'copy')
  if (target === undefined) throw failed(`${op} operation does not apply: ${missingContainers[op]?.(path)}: missing value`)
  return target
}

export function hasNoPosition({ container, index }: PointerTarget): boolean {
  return Array.isArray(container) && index === undefined
}

/** The error message for a step that is not a position of the list. */
export function noPosition({ key }: PointerTarget): string {
  if (!isNumber(key)) return `strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`
  return `Unable to access invalid index: ${Number(key)}: invalid index referenced`
}

export function whyNotRemoved(target: PointerTarget): string {
  return hasNoPosition(target) ? noPosition(target) : `Unable to remove nonexistent key: ${target.key}: missing value`
}

function isNumber(key: string): boolean {
  return /^[+-]?\d+$/.test(key)
}

function* readOperations(operations: JsonValue): Work<PlainOperation[]> {
  if (operations === null) return []
  if (!Array.isArray(operations)) throw undecodable(`${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`)
  const plain: PlainOperation[] = []
  for (const operation of operations) {
    const read = readOperation(operation)
    yield* checkDepth(read.value)
    plain.push(read)
    yield
  }
  return plain
}

export function readOperation(operation: JsonValue): PlainOperation {
  if (operation !== null && !isJsonObject(operation))
    throw undecodable(`${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`)
  const members = operation ?? {}
  const value = Object.hasOwn(members, 'value') ? (members.value as JsonValue) : null
  return {
    op: stringMember(members, 'op') ?? '',
    path: stringMember(members, 'path'),
    from: stringMember(members, 'from'),
    value,
  }
}

function stringMember(members: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw undecodable(`${jsonKind(value)} into Go struct field jsonPatchOp.${name} of type string`)
  return value
}

export function undecodable(what: string): FieldManagerError {
  return new FieldManagerError({ code: 'BadPatch', message: `error decoding patch: json: cannot unmarshal ${what}` })
}

export function failed(message: string): FieldManagerError {
  return new FieldManagerError({ code: 'Unprocessable', message })
}
