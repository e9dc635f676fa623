import { setMember } from '@krmkit/meta'
import { memberNames, rememberKey, rememberMemberNames, runAtOnce, type Work } from '@krmkit/meta/work'
import { DecodeError } from '../errors.ts'
import type { Scalar } from '../interfaces.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { normalizeBase64 } from './base64.ts'
import { type DecodeContext, InvalidNumber, maxDepth } from './context.ts'
import { jsonWeight, jsonWeightSteps } from './decoded-size.ts'
import { keyedSteps, sortedKeysSteps } from './shape.ts'

/** Decodes scalars as Go does: no coercion, numbers checked for their range. */

export type ScalarDecoder = (value: unknown, context: DecodeContext) => unknown

/** @param goType type name for error messages; called only on a mismatch. */
export function scalarDecoder(scalar: Scalar, goType: () => string): ScalarDecoder {
  switch (scalar) {
    case 'string':
      return (value, context) => {
        if (typeof value !== 'string') return context.recordMismatch(value, goType())
        context.size.add(value.length)
        return value
      }
    case 'bool':
      return (value, context) => (typeof value === 'boolean' ? value : context.recordMismatch(value, goType()))
    case 'int32':
      return (value, context) => (isInt32(value) ? value : invalidNumber(value, goType(), context))
    case 'int64':
      return (value, context) => (isInt64(value) ? value : invalidNumber(value, goType(), context))
    case 'float64':
      return (value, context) => floatValue(value, goType, context)
    case 'bytes':
      return (value, context) => bytesValue(value, goType, context)
    case 'any':
      return (value, context) => countValue(copyAny(value, context), context)
  }
}

export function isInt32(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value
}

function isInt64(value: unknown): boolean {
  return typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint' && BigInt.asIntN(64, value) === value
}

/** Marks numbers, so that the message shows their text. */
export function invalidNumber(value: unknown, goType: string, context: DecodeContext): undefined {
  return context.recordMismatch(asInvalidNumber(value), goType)
}

export function asInvalidNumber(value: unknown): unknown {
  return typeof value === 'number' || typeof value === 'bigint' || value instanceof NumberLiteral
    ? new InvalidNumber(value)
    : value
}

function floatValue(value: unknown, goType: () => string, context: DecodeContext): number | undefined {
  const number = value instanceof NumberLiteral ? value.value : typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number') return context.recordMismatch(value, goType())
  return Number.isFinite(number) ? number : invalidNumber(value, goType(), context)
}

/** Base64 text or, as in Go, a list of numbers. Counted without base64, as kube-apiserver stores it. */
function bytesValue(value: unknown, goType: () => string, context: DecodeContext): string | undefined {
  if (typeof value === 'string') {
    try {
      const text = normalizeBase64(value)
      context.size.add(binaryLength(text))
      return text
    } catch (error) {
      if (error instanceof DecodeError) return context.recordError(error.message)
      throw error
    }
  }
  if (!Array.isArray(value)) return context.recordMismatch(value, goType())
  let binary = ''
  for (const element of value) {
    if (typeof element !== 'number' || (element & 0xff) !== element) {
      if (element !== null) return invalidNumber(element, 'uint8', context)
      binary += '\0'
    } else binary += String.fromCharCode(element)
  }
  context.size.add(binary.length)
  return btoa(binary)
}

function binaryLength(base64: string): number {
  return (base64.length * 3) / 4
}

/** Counts an untyped value as a whole. */
export function countValue(value: unknown, context: DecodeContext): unknown {
  if (typeof value === 'object' && value !== null) context.size.add(jsonWeight(value) - 1)
  else if (typeof value === 'string') context.size.add(value.length)
  return value
}

/** Copies an untyped value. Duplicate members are reported; the last value wins. */
export function copyAny(value: unknown, context: DecodeContext): unknown {
  return copyValue(value, context, context.collecting && context.hasDuplicates)
}

/** Copies a raw value; duplicates inside it are not reported. */
export function copyRaw(value: unknown, context: DecodeContext): unknown {
  return copyValue(value, context, false)
}

function copyValue(value: unknown, context: DecodeContext, report: boolean): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof NumberLiteral) {
    return Number.isFinite(value.value) ? value.value : invalidNumber(value, 'float64', context)
  }
  if (report) return runAtOnce(reportingSteps(value, context))
  return copyPlain(value, context, context.depth)
}

function copyPlain(value: object, context: DecodeContext, depth: number): unknown {
  if (depth >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  if (value instanceof NumberLiteral) return copyValue(value, context, false)
  if (Array.isArray(value)) {
    return value.map((element) =>
      typeof element === 'object' && element !== null ? copyPlain(element, context, depth + 1) : element,
    )
  }
  const copy: Record<string, unknown> = {}
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    setMember(copy, key, typeof member === 'object' && member !== null ? copyPlain(member, context, depth + 1) : member)
  }
  return copy
}

/**
 * As `copyAny`, with pauses, and with the keys of large objects sorted where no duplicates are reported.
 */
export function* copySteps(value: unknown, context: DecodeContext, depth = context.depth): Work<unknown> {
  if (typeof value !== 'object' || value === null || value instanceof NumberLiteral) return copyAny(value, context)
  if (context.collecting && context.hasDuplicates) return yield* reportingSteps(value, context)
  if (depth >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  let count = 0
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (const element of value) {
      list.push(typeof element === 'object' ? yield* copySteps(element, context, depth + 1) : element)
      if (++count % membersPerStep === 0) yield
    }
    return list
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key]
    setMember(copy, key, typeof member === 'object' ? yield* copySteps(member, context, depth + 1) : member)
    if (++count % membersPerStep === 0) yield
  }
  if (count <= membersPerStep) return copy
  const sorted = yield* keyedSteps(copy, keys)
  context.copiedKeys ??= new Map()
  context.copiedKeys.set(sorted.object, sorted.keys)
  return sorted.object
}

const membersPerStep = 128

/** As `copyRaw` and `countValue`, with pauses. @param sorted sorts the keys of every object. */
export function* rawSteps(value: unknown, context: DecodeContext, sorted: boolean): Work<unknown> {
  const copy = yield* rawCopySteps(value, context, { depth: context.depth, sorted })
  if (typeof copy === 'object' && copy !== null) context.size.add((yield* jsonWeightSteps(copy)) - 1)
  else countValue(copy, context)
  return copy
}

interface RawCopy {
  readonly depth: number
  /** The keys of every object are sorted. */
  readonly sorted: boolean
  /** The copy is not changed, so that the names of large objects can be remembered. */
  readonly constant?: boolean
}

/** As `copyRaw`, with pauses. */
export function* rawCopySteps(
  value: unknown,
  context: DecodeContext,
  { depth, sorted, constant = false }: RawCopy = { depth: context.depth, sorted: false },
): Work<unknown> {
  if (typeof value !== 'object' || value === null || value instanceof NumberLiteral) return copyRaw(value, context)
  if (depth >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  const inner = { depth: depth + 1, sorted, constant }
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i]
      list.push(typeof element === 'object' ? yield* rawCopySteps(element, context, inner) : element)
      if (i % membersPerStep === membersPerStep - 1) yield
    }
    return list
  }
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    const member = (value as Record<string, unknown>)[key]
    setMember(copy, key, typeof member === 'object' ? yield* rawCopySteps(member, context, inner) : member)
    if (i % membersPerStep === membersPerStep - 1) yield
  }
  if (sorted && keys.length > 1) return yield* sortedKeysSteps(copy, keys, constant)
  if (constant) rememberMemberNames(copy, keys)
  else rememberKey(copy, keys)
  return copy
}

/** Copies an object or a list, and reports duplicate members. */
function* reportingSteps(value: object, context: DecodeContext): Work<unknown> {
  let count = 0
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      context.enter(i)
      list.push(isContainer(value[i]) ? yield* reportingSteps(value[i], context) : copyValue(value[i], context, false))
      context.leave()
      if (++count % membersPerStep === 0) yield
    }
    return list
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  for (const [key, member] of context.segmentsOf(value)?.[0] ?? membersOf(value as Record<string, unknown>, keys)) {
    if (Object.hasOwn(copy, key)) context.duplicate(key)
    context.enterKey(key)
    setMember(copy, key, isContainer(member) ? yield* reportingSteps(member, context) : copyValue(member, context, false))
    context.leave()
    if (++count % membersPerStep === 0) yield
  }
  if (count > membersPerStep) {
    context.copiedKeys ??= new Map()
    context.copiedKeys.set(copy, keys)
  }
  return copy
}

function* membersOf(object: Record<string, unknown>, keys: readonly string[]): Generator<readonly [string, unknown]> {
  for (const key of keys) yield [key, object[key]]
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof NumberLiteral)
}
