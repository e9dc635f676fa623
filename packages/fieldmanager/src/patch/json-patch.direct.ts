// Derived from json-patch.ts by `npm run direct`: do not edit.
import { runAtOnce } from '@krmkit/base/work'
import type { JsonValue } from '@krmkit/meta'
import { FieldManagerError } from '../field-manager-error.ts'
import { equalValues } from '../value/equal.direct.ts'
import { jsonKind } from '../value/type-names.ts'
import { copyValue } from './copy-value.ts'
import { checkDepth } from './depth.direct.ts'
import { Draft, type PointerTarget } from './draft.ts'
import {
  addTo,
  type Copies,
  decodedFrom,
  failed,
  hasNoPosition,
  isNumeric,
  type JsonPatchOptions,
  missingContainers,
  missingFrom,
  noPosition,
  type PlainOperation,
  readOperation,
  undecodable,
  whyNotRemoved,
} from './json-patch.ts'

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
export function jsonPatch(target: JsonValue, operations: JsonValue, options: JsonPatchOptions = {}): JsonValue {
  const { maxOperations = 10_000, maxCopySize = 3 * 1024 * 1024 } = options
  const plain = readOperations(operations)
  if (plain.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${plain.length}`
    throw new FieldManagerError({ code: 'TooManyOperations', message })
  }
  const draft = new Draft(target)
  const copies = { size: 0, maxSize: maxCopySize }
  for (const operation of plain) {
    applyOne(draft, operation, copies)
  }
  return runAtOnce(draft.finish())
}

function applyOne(draft: Draft, operation: PlainOperation, copies: Copies): void {
  const { op, path, value } = operation
  if (path === undefined) throw failed(`${op} operation failed to decode path`)
  switch (op) {
    case 'add':
      addTo(draft, resolveTarget(draft, path, op), { path, value, op })
      return
    case 'replace':
      replaceAt(draft, path, value)
      return
    case 'remove': {
      const target = resolveTarget(draft, path, op)
      if (draft.get(target) === undefined) throw failed(`error in remove for path: '${path}': ${whyNotRemoved(target)}`)
      draft.remove(target)
      return
    }
    case 'test':
      testAt(draft, path, value)
      return
    case 'move': {
      const moved = removeAt(draft, decodedFrom(operation))
      addTo(draft, resolveTarget(draft, path, op), { path, value: moved, op })
      return
    }
    case 'copy': {
      const source = sourceOf(draft, decodedFrom(operation))
      const target = resolveTarget(draft, path, op)
      addTo(draft, target, { path, value: copyOf(draft, source, copies), op })
      return
    }
    default:
      throw failed(`Unexpected kind: ${op === '' ? 'unknown' : op}`)
  }
}

function removeAt(draft: Draft, from: string): JsonValue {
  const target = runAtOnce(draft.resolve(from, false))
  if (target === undefined) throw missingFrom('move', from)
  const value = draft.get(target)
  if (value === undefined) throw failed(`error in move for path: '${target.key}': ${whyNotRemoved(target)}`)
  draft.remove(target)
  return value
}

function sourceOf(draft: Draft, from: string): PointerTarget {
  const source = runAtOnce(draft.resolve(from, false))
  if (source === undefined) throw missingFrom('copy', from)
  if (hasNoPosition(source)) throw failed(`error in copy for from: '${from}': ${noPosition(source)}`)
  return source
}

/** Copies a missing member as null. */
function copyOf(draft: Draft, source: PointerTarget, copies: Copies): JsonValue {
  const value = draft.getCurrent(source)
  if (value === undefined) return null
  const { copy, length } = runAtOnce(copyValue(value, (object) => draft.isOpened(object)))
  copies.size += length
  if (copies.size > copies.maxSize) {
    const text = `Unable to complete the copy, the accumulated size increase of copy is ${copies.size}, exceeding the limit ${copies.maxSize}`
    throw failed(text)
  }
  return copy
}

function replaceAt(draft: Draft, path: string, value: JsonValue): void {
  if (path === '') {
    if (typeof value === 'object' && value !== null) draft.replaceAll(value)
    return
  }
  const target = resolveTarget(draft, path, 'replace')
  if (hasNoPosition(target)) throw failed(`replace operation does not apply: doc is missing key: ${path}: missing value`)
  draft.set(target, value)
}

function testAt(draft: Draft, path: string, value: JsonValue): void {
  const target = resolveTarget(draft, path, 'test')
  if (hasNoPosition(target)) throw failed(`error in test for path: '${path}': ${noPosition(target)}`)
  const present = draft.getCurrent(target)
  // Numbers are compared as text, because the integer 2^63-1 must not equal the float 2^63.
  const isSame = isNumeric(value) ? isNumeric(present) && String(present) === String(value) : equalValues(present ?? null, value)
  if (!isSame) throw failed(`testing value ${path} failed: test failed`)
}

function resolveTarget(draft: Draft, path: string, op: string): PointerTarget {
  const target = runAtOnce(draft.resolve(path, op === 'add' || op === 'move' || op === 'copy'))
  if (target === undefined) throw failed(`${op} operation does not apply: ${missingContainers[op]?.(path)}: missing value`)
  return target
}

function readOperations(operations: JsonValue): PlainOperation[] {
  if (operations === null) return []
  if (!Array.isArray(operations)) throw undecodable(`${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`)
  const plain: PlainOperation[] = []
  for (const operation of operations) {
    const read = readOperation(operation)
    checkDepth(read.value)
    plain.push(read)
  }
  return plain
}
