import {
  type FieldError,
  field,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nameRules,
  type ObjectMeta,
  Path,
  setMember,
  validateObjectMeta,
} from '@krmkit/meta'
import { validateDns1035Label } from '@krmkit/meta/names'
import { formatFieldError, restatedError } from '@krmkit/meta/validation'
import { decode } from '../decode/decode.direct.ts'
import type { StructType } from '../interfaces.ts'
import { own } from '../json/json-object.ts'
import { DecodeError } from '../schema-error.ts'
import { additionalNode, type SchemaNode } from '../schema-node.ts'
import { coerceMetadata } from './metadata.direct.ts'

/** Embedded resources: `x-kubernetes-embedded-resource`. */

type Visit = (object: JsonObject, path: Path | undefined, text: string) => void

/** Visits the embedded resources of a value, outermost first. Excludes the value itself when it is the root. */
function visitEmbedded(
  value: JsonValue,
  node: SchemaNode | undefined,
  visit: Visit,
  at: { path: Path | undefined; text: string; root: boolean },
): void {
  if (node === undefined || !node.containsEmbedded) return
  const { path, text } = at
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      visitEmbedded(value[i] as JsonValue, node.items, visit, { path: path?.index(i), text: `${text}[${i}]`, root: false })
    }
    return
  }
  if (!isJsonObject(value)) return
  if (node.embeddedResource && !at.root) visit(value, path, text)
  const rest = additionalNode(node)
  for (const key of Object.keys(value)) {
    const property = node.properties.get(key)
    const inner = property ?? rest
    if (inner === undefined || !inner.containsEmbedded) continue
    const next = path === undefined ? Path.of(key) : property === undefined ? path.key(key) : path.child(key)
    const below = property === undefined ? `${text}[${key}]` : text === '' ? key : `${text}.${key}`
    visitEmbedded(value[key] as JsonValue, inner, visit, { path: next, text: below, root: false })
  }
}

/**
 * Coerces the metadata of embedded resources in place. Removes and reports unknown fields.
 *
 * @param includeRoot whether the object itself is an embedded resource. Default false.
 * @throws DecodeError `Type` for an `apiVersion`, `kind` or `metadata` of a wrong type; with `lenient` they are removed instead.
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { coerceEmbedded, createSchemaNode } from '@krmkit/schema/structural'
 * const pod = { type: 'object', 'x-kubernetes-embedded-resource': true }
 * const node = createSchemaNode({ type: 'object', properties: { pod } })
 * const object = { pod: { metadata: { name: 'web', extra: 1 } } }
 * const unknown: string[] = []
 * coerceEmbedded(object, node, { metadata: builtInTypes().struct('meta/v1.ObjectMeta'), unknown })
 * unknown // [ 'pod.metadata.extra' ]
 * @see {@link validateEmbedded}
 */
export function coerceEmbedded(
  object: JsonObject,
  node: SchemaNode,
  {
    metadata,
    unknown,
    lenient = false,
    includeRoot = false,
  }: {
    readonly metadata: StructType
    readonly unknown?: string[] | undefined
    readonly lenient?: boolean
    readonly includeRoot?: boolean
  },
): void {
  visitEmbedded(
    object,
    node,
    (embedded, path, text) => {
      const below = (name: string) => (text === '' ? name : `${text}.${name}`)
      const malformed = (name: string, value: JsonValue, detail: string, at = below(name)): DecodeError => {
        const error = field.invalid(path === undefined ? Path.of(name) : path.child(name), value, detail)
        return new DecodeError({ code: 'Type', message: formatFieldError(error), path: at })
      }
      for (const name of ['apiVersion', 'kind']) {
        const value = Object.hasOwn(embedded, name) ? embedded[name] : undefined
        if (value === undefined || typeof value === 'string') continue
        if (!lenient) throw malformed(name, value, 'must be a string')
        delete embedded[name]
      }
      if (!Object.hasOwn(embedded, 'metadata')) return
      const given = embedded.metadata as JsonValue
      try {
        const found = coerceMetadata(given, metadata, { prefix: `${below('metadata')}.`, unknown, lenient })
        if (found === undefined) delete embedded.metadata
        else setMember(embedded, 'metadata', found)
      } catch (error) {
        if (error instanceof DecodeError) throw malformed('metadata', given, error.message, error.path)
        throw error
      }
    },
    { path: undefined, text: '', root: !includeRoot },
  )
}

/**
 * Validates embedded resources: `apiVersion` and `kind` are required, and metadata must be valid.
 *
 * @example
 * import { builtInTypes } from '@krmkit/kinds'
 * import { formatFieldError } from '@krmkit/meta/validation'
 * import { createSchemaNode, validateEmbedded } from '@krmkit/schema/structural'
 * const pod = { type: 'object', 'x-kubernetes-embedded-resource': true }
 * const node = createSchemaNode({ type: 'object', properties: { pod } })
 * const errors = validateEmbedded({ pod: { kind: 'Pod' } }, node, builtInTypes().struct('meta/v1.ObjectMeta'))
 * errors.map(formatFieldError) // [ 'pod.apiVersion: Required value: must not be empty' ]
 */
export function validateEmbedded(
  value: JsonValue,
  node: SchemaNode,
  metadata: StructType,
  options: { path?: Path; root?: boolean } = {},
): FieldError[] {
  const errors: FieldError[] = []
  visitEmbedded(value, node, (object, path) => errors.push(...validateEmbeddedObject(object, path, metadata)), {
    path: options.path,
    text: '',
    root: options.root ?? true,
  })
  return errors
}

/**
 * Returns the error of the first embedded resource, including the value itself, whose `apiVersion`, `kind` or `metadata` has
 * a wrong type.
 *
 * @see {@link coerceEmbedded}
 */
export function embeddedTypeError(value: JsonValue, node: SchemaNode, metadata: StructType, path: Path): FieldError | undefined {
  let first: FieldError | undefined
  const visit: Visit = (object, at) => {
    first ??= typeErrorOf(object, at ?? path, metadata)
  }
  visitEmbedded(value, node, visit, { path, text: '', root: false })
  return first
}

function typeErrorOf(object: JsonObject, path: Path, type: StructType): FieldError | undefined {
  for (const name of ['apiVersion', 'kind']) {
    const value = own(object, name)
    if (value !== undefined && typeof value !== 'string') return field.invalid(path.child(name), value, 'must be a string')
  }
  const metadata = own(object, 'metadata')
  const decoded = metadata === undefined ? undefined : decodeMetadata(metadata, path.child('metadata'), type)
  return decoded !== undefined && 'problem' in decoded ? decoded.problem : undefined
}

/** The detail is that of releases before 1.34. */
function missing(path: Path): FieldError {
  return restatedError(field.required(path, 'must not be empty'), { since: '1.34', errors: [field.required(path)] })
}

/** Validates one embedded resource. */
export function validateEmbeddedObject(object: JsonObject, path: Path | undefined, metadata: StructType): FieldError[] {
  const errors: FieldError[] = []
  const at = (name: string) => (path === undefined ? Path.of(name) : path.child(name))
  const { apiVersion, kind, metadata: meta } = object
  if (apiVersion === undefined) errors.push(missing(at('apiVersion')))
  if (kind === undefined) errors.push(missing(at('kind')))
  if (apiVersion !== undefined) {
    if (typeof apiVersion !== 'string') errors.push(field.invalid(at('apiVersion'), apiVersion, 'must be a string'))
    else if (apiVersion === '') errors.push(field.invalid(at('apiVersion'), apiVersion, 'must not be empty'))
    else if (apiVersion.split('/').length > 2)
      errors.push(field.invalid(at('apiVersion'), apiVersion, `unexpected GroupVersion string: ${apiVersion}`))
  }
  if (kind !== undefined) {
    if (typeof kind !== 'string') errors.push(field.invalid(at('kind'), kind, 'must be a string'))
    else if (kind === '') errors.push(field.invalid(at('kind'), kind, 'must not be empty'))
    else {
      const problems = validateDns1035Label(kind.toLowerCase())
      if (problems.length > 0)
        errors.push(field.invalid(at('kind'), kind, `may have mixed case, but should otherwise match: ${problems.join(',')}`))
    }
  }
  if (meta !== undefined) errors.push(...validateMetadata(meta, at('metadata'), metadata))
  return errors
}

function validateMetadata(value: JsonValue, path: Path, type: StructType): FieldError[] {
  const decoded = decodeMetadata(value, path, type)
  if ('problem' in decoded) return [decoded.problem]
  const { meta } = decoded
  const named = (meta.name ?? '') === '' ? { ...meta, name: 'fakename' } : meta
  return validateObjectMeta(named, { namespaced: (meta.namespace ?? '') !== '', name: nameRules.pathSegment, path })
}

function decodeMetadata(value: JsonValue, path: Path, type: StructType): { meta: ObjectMeta } | { problem: FieldError } {
  try {
    return { meta: decode<JsonObject>(type, value, { collect: false }).object as unknown as ObjectMeta }
  } catch (error) {
    if (error instanceof DecodeError) return { problem: field.invalid(path, value, error.message) }
    throw error
  }
}
