// Derived from copies.ts by `npm run direct`: do not edit.

import { memberNames } from '@krmkit/base/work'
import { setMember } from '@krmkit/meta'
import { jsonWeight } from '../json/json-weight.direct.ts'
import { withSortedKeys } from '../json/shape.direct.ts'
import { inOrder } from '../json/shape.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { type DecodeContext, maxDepth } from './context.ts'
import { type CopyOptions, isContainer, plainNumber, unsorted } from './copies.ts'

/** Copies an untyped value. Duplicate members are reported; the last value wins. */
export function copyAny(value: unknown, context: DecodeContext, options: CopyOptions = unsorted): unknown {
  if (context.collecting && context.hasDuplicates && isContainer(value)) return copyReporting(value, context)
  return copyRaw(value, context, options)
}

/** As {@link copyAny}, and counts the size of the copy. */
export function copyCounted(value: unknown, context: DecodeContext): unknown {
  return counted(copyAny(value, context), context)
}

/** As {@link copyRaw}, and counts the size of the copy. */
export function copyRawCounted(value: unknown, context: DecodeContext, options: CopyOptions): unknown {
  return counted(copyRaw(value, context, options), context)
}

function counted(value: unknown, context: DecodeContext): unknown {
  if (typeof value === 'object' && value !== null) context.size.add(jsonWeight(value) - 1)
  else if (typeof value === 'string') context.size.add(value.length)
  return value
}

/** Copies a raw value; duplicate members inside it are not reported. */
export function copyRaw(value: unknown, context: DecodeContext, options: CopyOptions = unsorted): unknown {
  return typeof value === 'object' && value !== null ? copyObject(value, context, options, context.depth) : value
}

function copyObject(value: object, context: DecodeContext, options: CopyOptions, depth: number): unknown {
  if (value instanceof NumberLiteral) return plainNumber(value, context)
  if (depth >= maxDepth) throw new DecodeError({ code: 'Depth', message: 'exceeded max depth' })

  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (const element of value) {
      const isObject = typeof element === 'object' && element !== null
      list.push(isObject ? copyObject(element, context, options, depth + 1) : element)
    }
    return list
  }
  const copy: Record<string, unknown> = {}

  const checksOrder = options.sorted === true
  let previous: string | undefined
  let isSorted = true
  for (const key in value) {
    const member = (value as Record<string, unknown>)[key]
    const isObject = typeof member === 'object' && member !== null
    setMember(copy, key, isObject ? copyObject(member, context, options, depth + 1) : member)
    if (checksOrder) {
      isSorted &&= previous === undefined || inOrder(previous, key)
      previous = key
    }
  }
  if (!isSorted) return withSortedKeys(copy, memberNames(value))

  return copy
}

/** Copies an object or a list, and reports duplicate members. */
function copyReporting(value: object, context: DecodeContext): unknown {
  if (Array.isArray(value)) {
    const list: unknown[] = []
    for (let i = 0; i < value.length; i++) {
      context.enter(i)
      list.push(copyPart(value[i], context))
      context.leave()
    }
    return list
  }
  const copy: Record<string, unknown> = {}
  const keys = memberNames(value)
  const repeated = context.segmentsOf(value)?.[0]
  for (const [key, member] of repeated ?? []) {
    if (Object.hasOwn(copy, key)) context.duplicate(key)
    copyMember(copy, key, member, context)
  }
  for (const key of repeated === undefined ? keys : []) {
    copyMember(copy, key, (value as Record<string, unknown>)[key], context)
  }

  return copy
}

function copyMember(copy: Record<string, unknown>, key: string, value: unknown, context: DecodeContext): void {
  context.enterKey(key)
  setMember(copy, key, copyPart(value, context))
  context.leave()
}

function copyPart(value: unknown, context: DecodeContext): unknown {
  if (isContainer(value)) return copyReporting(value, context)
  return value instanceof NumberLiteral ? plainNumber(value, context) : value
}
