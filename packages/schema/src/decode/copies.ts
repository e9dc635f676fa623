import { memberNames, rememberKey, rememberMemberNames, type Work } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { jsonWeight } from '../json/json-weight.ts'
import { inOrder, withSortedKeys } from '../json/shape.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { type DecodeContext, invalidNumber, maxDepth } from './context.ts'

/** Copies of values without a type. */

export interface CopyOptions {
  /** The keys of every object are sorted; not with `constant`. */
  readonly sorted?: boolean
  /** The copy is never modified, so that member names of large objects can be cached. */
  readonly constant?: boolean
  /** Stores the keys of large objects in `copiedKeys` of the context. */
  readonly keyed?: boolean
}

export const unsorted: CopyOptions = {}

/** Copies an untyped value. Duplicate members are reported; the last value wins. */
export function* copyAny(value: unknown, context: DecodeContext, options: CopyOptions = unsorted): Work<unknown> {
  if (context.collecting && context.hasDuplicates && isContainer(value)) return yield* copyReporting(value, context)
  return yield* copyRaw(value, context, options)
}

/** As {@link copyAny}, and counts the size of the copy. */
export function* copyCounted(value: unknown, context: DecodeContext): Work<unknown> {
  return yield* counted(yield* copyAny(value, context), context)
}

/** As {@link copyRaw}, and counts the size of the copy. */
export function* copyRawCounted(value: unknown, context: DecodeContext, options: CopyOptions): Work<unknown> {
  return yield* counted(yield* copyRaw(value, context, options), context)
}

function* counted(value: unknown, context: DecodeContext): Work<unknown> {
  if (typeof value === 'object' && value !== null) context.size.add((yield* jsonWeight(value)) - 1)
  else if (typeof value === 'string') context.size.add(value.length)
  return value
}

/** Copies a raw value; duplicate members inside it are not reported. */
export function* copyRaw(value: unknown, context: DecodeContext, options: CopyOptions = unsorted): Work<unknown> {
  return typeof value === 'object' && value !== null ? yield* copyObject(value, context, options, context.depth) : value
}

function* copyObject(value: object, context: DecodeContext, options: CopyOptions, depth: number): Work<unknown> {
  if (value instanceof NumberLiteral) return plainNumber(value, context)
  if (depth >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })
  let count = 0
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (const element of value) {
      const isObject = typeof element === 'object' && element !== null
      list.push(isObject ? yield* copyObject(element, context, options, depth + 1) : element)
      if (++count % membersPerStep === 0) yield
    }
    return list
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  if (keys.length > membersPerStep) yield true
  const checksOrder = options.sorted === true
  let previous: string | undefined
  let isSorted = true
  for (const key of keys) {
    const member = (value as Record<string, unknown>)[key]
    const isObject = typeof member === 'object' && member !== null
    setMember(copy, key, isObject ? yield* copyObject(member, context, options, depth + 1) : member)
    if (checksOrder) {
      isSorted &&= previous === undefined || inOrder(previous, key)
      previous = key
    }
    if (++count % membersPerStep === 0) yield
  }
  if (!isSorted) return yield* withSortedKeys(copy, keys)
  rememberCopy(copy, keys, context, options)
  return copy
}

/** Members copied between two yields. */
const membersPerStep = 128

/** Stores the keys of large copies for pausable work. */
function rememberCopy(copy: object, keys: readonly string[], context: DecodeContext, { constant, keyed }: CopyOptions): void {
  if (keyed === true) {
    if (keys.length <= membersPerStep) return
    context.copiedKeys ??= new Map()
    context.copiedKeys.set(copy, keys)
  } else if (constant === true) rememberMemberNames(copy, keys)
  else rememberKey(copy, keys)
}

export function plainNumber(literal: NumberLiteral, context: DecodeContext): number | undefined {
  return Number.isFinite(literal.value) ? literal.value : invalidNumber(literal, 'float64', context)
}

/** Copies an object or a list, and reports duplicate members. */
function* copyReporting(value: object, context: DecodeContext): Work<unknown> {
  let count = 0
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      context.enter(i)
      list.push(yield* copyPart(value[i], context))
      context.leave()
      if (++count % membersPerStep === 0) yield
    }
    return list
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  const repeated = context.segmentsOf(value)?.[0]
  for (const [key, member] of repeated ?? []) {
    if (Object.hasOwn(copy, key)) context.duplicate(key)
    yield* copyMember(copy, key, member, context)
    if (++count % membersPerStep === 0) yield
  }
  for (const key of repeated === undefined ? keys : []) {
    yield* copyMember(copy, key, (value as Record<string, unknown>)[key], context)
    if (++count % membersPerStep === 0) yield
  }
  rememberCopy(copy, keys, context, { keyed: true })
  return copy
}

function* copyMember(copy: Record<string, unknown>, key: string, value: unknown, context: DecodeContext): Work {
  context.enterKey(key)
  setMember(copy, key, yield* copyPart(value, context))
  context.leave()
}

function* copyPart(value: unknown, context: DecodeContext): Work<unknown> {
  if (isContainer(value)) return yield* copyReporting(value, context)
  return value instanceof NumberLiteral ? plainNumber(value, context) : value
}

export function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !(value instanceof NumberLiteral)
}
