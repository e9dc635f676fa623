import { type DeepReadonly, type FieldError, field, type JsonObject, type JsonValue } from '@krmkit/meta'
import { goFloat, goNumber } from '@krmkit/meta/go-text'
import { WholeFloat } from '@krmkit/schema/structural'
import type { CustomResourceSubresourceScale } from '../types/apiextensions-v1.generated.ts'

/** Rules for the fields that `/scale` of a custom resource maps to. */

type Scale = DeepReadonly<CustomResourceSubresourceScale>

const maxInt32 = 2147483647

/** Errors of the desired replicas. */
export function validateSpecReplicas(object: JsonObject, { specReplicasPath }: Scale): FieldError[] {
  return validateReplicas(object, specReplicasPath)
}

/** Errors of the current replicas and of their selector. */
export function validateStatusReplicas(object: JsonObject, { statusReplicasPath, labelSelectorPath = '' }: Scale): FieldError[] {
  const errors = validateReplicas(object, statusReplicasPath)
  if (labelSelectorPath === '') return errors
  const found = resolvePath(object, labelSelectorPath)
  if ('problem' in found) errors.push(field.invalid(labelSelectorPath, '', found.problem))
  else if (found.value !== undefined && typeof found.value !== 'string')
    errors.push(field.invalid(labelSelectorPath, '', wrongType(memberPath(labelSelectorPath), found.value, 'string')))
  return errors
}

function validateReplicas(object: JsonObject, path: string): FieldError[] {
  const found = resolvePath(object, path)
  if ('problem' in found) return [field.invalid(path, 0, found.problem)]
  // Integers beyond 2^53 are big ones.
  const value: JsonValue | bigint | WholeFloat | undefined = found.value
  if (value === undefined) return []
  if (typeof value !== 'bigint' && !Number.isSafeInteger(value))
    return [field.invalid(path, 0, wrongType(memberPath(path), value, 'int64'))]
  if (Number(value) < 0) return [field.invalid(path, value, 'should be a non-negative integer')]
  if (Number(value) > maxInt32) return [field.invalid(path, value, `should be less than or equal to ${maxInt32}`)]
  return []
}

/** `.spec.replicas` -> `spec`, `replicas` */
export function memberPath(path: string): readonly string[] {
  return path.replace(/^\./, '').split('.')
}

/** The value at a path; a value on the way that has no members is a problem, null is not. */
function resolvePath(object: JsonObject, path: string): { readonly value: JsonValue | undefined } | { readonly problem: string } {
  const members = memberPath(path)
  let at: JsonValue = object
  for (const [index, member] of members.entries()) {
    if (at === null) return { value: undefined }
    if (typeof at !== 'object' || Array.isArray(at))
      return { problem: wrongType(members.slice(0, index + 1), at, 'map[string]interface{}') }
    const next: JsonValue | undefined = Object.hasOwn(at, member) ? at[member] : undefined
    if (next === undefined) return { value: undefined }
    at = next
  }
  return { value: at }
}

function wrongType(members: readonly string[], value: JsonValue, wanted: string): string {
  return `.${members.join('.')} accessor error: ${goPlain(value)} is of the type ${goType(value)}, expected ${wanted}`
}

/** Formats like `%v` of Go. */
function goPlain(value: JsonValue): string {
  if (value instanceof WholeFloat) return goFloat(value.value)
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return `[${value.map(goPlain).join(' ')}]`
  if (typeof value === 'number') return goNumber(value)
  if (typeof value !== 'object') return String(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${key}:${goPlain(value[key] as JsonValue)}`)
  return `map[${members.join(' ')}]`
}

function goType(value: JsonValue | bigint): string {
  if (value === null) return '<nil>'
  if (value instanceof WholeFloat) return 'float64'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'bool' : typeof value === 'bigint' || Number.isSafeInteger(value) ? 'int64' : 'float64'
}
