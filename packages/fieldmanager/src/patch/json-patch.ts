import type { JsonObject, JsonValue } from '@krmkit/meta'
import jsonpatch from 'fast-json-patch'
import { isMap } from '../value/order.ts'
import { cloneValue, jsonKind } from './json-kind.ts'
import type { Place } from './json-pointer.ts'
import { memberAt, placeOf } from './json-pointer.ts'
import { PatchError } from './patch-error.ts'

/** The one module that knows fast-json-patch, which applies operations; what it may be given is decided here. */

export interface JsonPatchOptions {
  /** 10 000 by default. */
  readonly maxOperations?: number
  /** How much `copy` operations may add, in characters of JSON; 3 MiB by default. */
  readonly maxCopySize?: number
}

interface PlainOperation {
  readonly op: string
  readonly path: string | undefined
  readonly from: string | undefined
  readonly value: JsonValue
}

/**
 * Applies a JSON patch to a copy of `target`; an object is changed by all operations or by none.
 *
 * As stock servers do it: `replace` adds a missing member, an absent member tests equal to null, negative positions count from
 * the end, positions may have leading zeros, and to replace the whole document by what is no object or list does nothing.
 *
 * @throws PatchError `BadPatch` for what is no list of operations, `TooManyOperations`, `Unprocessable` when an operation
 * fails.
 * @see RFC 6902
 */
export function jsonPatch(target: JsonValue, operations: JsonValue, options: JsonPatchOptions = {}): JsonValue {
  const { maxOperations = 10_000, maxCopySize = 3 * 1024 * 1024 } = options
  const plain = readOperations(operations)
  if (plain.length > maxOperations) {
    const message = `The allowed maximum operations in a JSON patch is ${maxOperations}, got ${plain.length}`
    throw new PatchError('TooManyOperations', message)
  }
  let document = cloneValue(target)
  let copied = 0
  for (const operation of plain) {
    if (operation.op === 'copy') {
      copied += copySize(document, operation)
      if (copied > maxCopySize) {
        const text = `Unable to complete the copy, the accumulated size increase of copy is ${copied}, exceeding the limit ${maxCopySize}`
        throw new PatchError('Unprocessable', text)
      }
    }
    document = applyOne(document, operation)
  }
  return document
}

const operationMembers: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/** Members of operations that mean nothing, as strict and warning field validation tell of them. */
export function jsonPatchProblems(operations: JsonValue): string[] {
  if (!Array.isArray(operations)) return []
  return operations.flatMap((operation, index) =>
    isMap(operation)
      ? Object.keys(operation).flatMap((name) =>
          operationMembers.has(name) ? [] : [`json patch unknown field "[${index}].${name}"`],
        )
      : [],
  )
}

function applyOne(document: JsonValue, operation: PlainOperation): JsonValue {
  const { op, path, from, value } = operation
  if (path === undefined) throw failed(`${op} operation failed to decode path`)
  switch (op) {
    case 'add': {
      const place = placeFor(document, path, op)
      return run(document, { op: 'add', path: place.pointer, value: cloneValue(value) })
    }
    case 'replace':
      return replaceAt(document, path, value)
    case 'remove': {
      const place = placeFor(document, path, op)
      if (memberAt(place) === undefined) throw failed(`remove operation does not apply: doc is missing key: ${path}`)
      return run(document, { op: 'remove', path: place.pointer })
    }
    case 'test':
      return testAt(document, path, value)
    case 'move':
    case 'copy': {
      if (from === undefined) throw failed(`${op} operation failed to decode from`)
      const source = placeOf(document, from, false)
      if (source === undefined) throw failed(`${op} operation does not apply: doc is missing from path: ${from}`)
      const moved = memberAt(source)
      if (moved === undefined && (op === 'move' || source.index !== undefined)) {
        throw failed(`${op} operation does not apply: doc is missing from path: ${from}`)
      }
      const rest = op === 'move' ? run(document, { op: 'remove', path: source.pointer }) : document
      const place = placeFor(rest, path, op)
      return run(rest, { op: 'add', path: place.pointer, value: cloneValue(moved ?? null) })
    }
    default:
      throw failed(`Unexpected kind: ${op === '' ? 'unknown' : op}`)
  }
}

function replaceAt(document: JsonValue, path: string, value: JsonValue): JsonValue {
  if (path === '') {
    return typeof value !== 'object' || value === null ? document : cloneValue(value)
  }
  const place = placeFor(document, path, 'replace')
  const present = memberAt(place) !== undefined
  if (!present && place.index !== undefined) throw failed(`replace operation does not apply: doc is missing key: ${path}`)
  return run(document, { op: present ? 'replace' : 'add', path: place.pointer, value: cloneValue(value) })
}

function testAt(document: JsonValue, path: string, value: JsonValue): JsonValue {
  const place = placeFor(document, path, 'test')
  const present = memberAt(place)
  if (present === undefined && place.index !== undefined) throw failed(`error in test for path: '${path}'`)
  if ((present ?? null) === null || value === null) {
    if ((present ?? null) !== null || value !== null) throw failed(`testing value ${path} failed: test failed`)
    return document
  }
  return run(document, { op: 'test', path: place.pointer, value })
}

type LibraryOperation = { op: 'add' | 'replace' | 'test'; path: string; value: JsonValue } | { op: 'remove'; path: string }

/** Runs one checked operation, in place. */
function run(document: JsonValue, operation: LibraryOperation): JsonValue {
  try {
    return jsonpatch.applyOperation(document, operation, true, true, true).newDocument
  } catch (error) {
    throw failed(`${operation.op} operation does not apply: ${(error as Error).message.split('\n', 1)[0]}`)
  }
}

function placeFor(document: JsonValue, path: string, op: string): Place {
  const place = placeOf(document, path, op !== 'remove' && op !== 'replace' && op !== 'test')
  if (place === undefined) throw failed(`${op} operation does not apply: doc is missing path: ${JSON.stringify(path)}`)
  return place
}

function copySize(document: JsonValue, { from }: PlainOperation): number {
  const place = from === undefined ? undefined : placeOf(document, from, false)
  const value = place === undefined ? undefined : memberAt(place)
  return value === undefined
    ? 0
    : JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member)).length
}

function readOperations(operations: JsonValue): PlainOperation[] {
  if (operations === null) return []
  if (!Array.isArray(operations)) throw undecodable(`${jsonKind(operations)} into Go value of type []handlers.jsonPatchOp`)
  return operations.map(readOperation)
}

function readOperation(operation: JsonValue): PlainOperation {
  if (operation !== null && !isMap(operation))
    throw undecodable(`${jsonKind(operation)} into Go value of type handlers.jsonPatchOp`)
  const members = operation ?? {}
  const value = Object.hasOwn(members, 'value') ? (members.value as JsonValue) : null
  return { op: textOf(members, 'op') ?? '', path: textOf(members, 'path'), from: textOf(members, 'from'), value }
}

function textOf(members: JsonObject, name: string): string | undefined {
  const value = Object.hasOwn(members, name) ? members[name] : undefined
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string') throw undecodable(`${jsonKind(value)} into Go struct field jsonPatchOp.${name} of type string`)
  return value
}

function undecodable(what: string): PatchError {
  return new PatchError('BadPatch', `error decoding patch: json: cannot unmarshal ${what}`)
}

function failed(message: string): PatchError {
  return new PatchError('Unprocessable', message)
}
