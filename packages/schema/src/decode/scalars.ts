import type { Scalar } from '../interfaces.ts'
import { NumberLiteral } from '../json/syntax.ts'
import { DecodeError } from '../schema-error.ts'
import { normalizeBase64 } from './base64.ts'
import { type DecodeContext, invalidNumber } from './context.ts'
import { copyCounted } from './copies.direct.ts'

/** Decodes scalars as Go does: without coercion, and with range checks of numbers. */

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
      return copyCounted
  }
}

export function isInt32(value: unknown): value is number {
  return typeof value === 'number' && (value | 0) === value
}

function isInt64(value: unknown): boolean {
  return typeof value === 'number' ? Number.isSafeInteger(value) : typeof value === 'bigint' && BigInt.asIntN(64, value) === value
}

function floatValue(value: unknown, goType: () => string, context: DecodeContext): number | undefined {
  const number = value instanceof NumberLiteral ? value.value : typeof value === 'bigint' ? Number(value) : value
  if (typeof number !== 'number') return context.recordMismatch(value, goType())
  return Number.isFinite(number) ? number : invalidNumber(value, goType(), context)
}

/** Base64 text or, as in Go, a list of numbers. Counted by the length of the bytes, as kube-apiserver stores them. */
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
