/**
 * CEL types.
 *
 * Objects with declared members are `struct` types that include their fields; there is no type registry.
 */

export type Primitive =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  /** Dynamic: checked at run time. */
  | 'dyn'
  /** As `dyn`, for a declared value of unknown type. */
  | 'any'
  /** Result of a type error; assignable everywhere. */
  | 'error'

export interface PrimitiveType {
  readonly kind: Primitive
  /** Whether null is assignable, as to the wrapper types of protobuf. */
  readonly nullable?: true
}

export interface ListType {
  readonly kind: 'list'
  readonly elem: Type
}

export interface MapType {
  readonly kind: 'map'
  readonly key: Type
  readonly value: Type
}

/** An object type with declared fields. */
export interface ObjectType {
  readonly kind: 'struct'
  readonly name: string
  /** Fields by expression name. */
  readonly fields: ReadonlyMap<string, Type>
}

/** A type whose values are accessible only to functions; `optional_type(T)` is one. */
export interface OpaqueType {
  readonly kind: 'opaque'
  readonly name: string
  readonly params: readonly Type[]
}

/** The type of a type; without `of`, of any type. */
export interface TypeType {
  readonly kind: 'type'
  readonly of?: Type
}

/** A type parameter. */
export interface ParamType {
  readonly kind: 'param'
  readonly name: string
}

export type Type = PrimitiveType | ListType | MapType | ObjectType | OpaqueType | TypeType | ParamType

export const boolType: Type = { kind: 'bool' }
export const intType: Type = { kind: 'int' }
export const uintType: Type = { kind: 'uint' }
export const doubleType: Type = { kind: 'double' }
export const stringType: Type = { kind: 'string' }
export const bytesType: Type = { kind: 'bytes' }
export const nullType: Type = { kind: 'null' }
export const timestampType: Type = { kind: 'timestamp' }
export const durationType: Type = { kind: 'duration' }
export const dynType: Type = { kind: 'dyn' }
export const anyType: Type = { kind: 'any' }
export const errorType: Type = { kind: 'error' }
export const anyTypeType: Type = { kind: 'type' }

/** Returns the type with null as an additional value. */
export function nullableOf(type: Type): Type {
  return { ...(type as PrimitiveType), nullable: true }
}

/**
 * A list type.
 *
 * @example
 * import { Environment } from '@krmkit/cel'
 * import { listOf, stringType } from '@krmkit/cel/types'
 * const environment = Environment.ofRelease('1.33').with([['names', listOf(stringType)]])
 * 'problem' in environment.compile('names[0] == 1') // true
 */
export function listOf(elem: Type): ListType {
  return { kind: 'list', elem }
}

/**
 * A map type.
 *
 * @see {@link listOf}
 */
export function mapOf(key: Type, value: Type): MapType {
  return { kind: 'map', key, value }
}

/**
 * An object type with declared fields.
 *
 * @example
 * import { Environment } from '@krmkit/cel'
 * import { intType, structOf } from '@krmkit/cel/types'
 * const point = structOf('Point', new Map([['x', intType]]))
 * const environment = Environment.ofRelease('1.33').with([['self', point]])
 * 'problem' in environment.compile('self.y > 0') // true
 */
export function structOf(name: string, fields: ReadonlyMap<string, Type>): ObjectType {
  return { kind: 'struct', name, fields }
}

export function opaqueOf(name: string, params: readonly Type[] = []): OpaqueType {
  return { kind: 'opaque', name, params }
}

export function typeOf(of: Type): TypeType {
  return { kind: 'type', of }
}

export function param(name: string): ParamType {
  return { kind: 'param', name }
}

export const optionalTypeName = 'optional_type'

/**
 * An optional type.
 *
 * @see {@link listOf}
 */
export function optionalOf(of: Type): OpaqueType {
  return opaqueOf(optionalTypeName, [of])
}

/** Type inside an optional; `undefined` for other types. */
export function unwrapOptional(type: Type): Type | undefined {
  return type.kind === 'opaque' && type.name === optionalTypeName ? type.params[0] : undefined
}

export function isDyn(type: Type): boolean {
  return type.kind === 'dyn' || type.kind === 'any'
}

export function isDynOrError(type: Type): boolean {
  return isDyn(type) || type.kind === 'error'
}

/** Type arguments in order. */
export function parametersOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case 'list':
      return [type.elem]
    case 'map':
      return [type.key, type.value]
    case 'opaque':
      return type.params
    case 'type':
      return type.of === undefined ? [] : [type.of]
    default:
      return []
  }
}

/** The same type with other type arguments. */
export function withParameters(type: Type, params: readonly Type[]): Type {
  switch (type.kind) {
    case 'list':
      return listOf(params[0] as Type)
    case 'map':
      return mapOf(params[0] as Type, params[1] as Type)
    case 'opaque':
      return opaqueOf(type.name, params)
    case 'type':
      return params[0] === undefined ? type : typeOf(params[0])
    default:
      return type
  }
}

export function sameType(a: Type, b: Type): boolean {
  if (a === b) return true
  if (a.kind !== b.kind) return false
  if (a.kind === 'struct') return a.name === (b as ObjectType).name
  if (a.kind === 'param') return a.name === (b as ParamType).name
  if (a.kind === 'opaque' && a.name !== (b as OpaqueType).name) return false
  const left = parametersOf(a)
  const right = parametersOf(b)
  return left.length === right.length && left.every((type, index) => sameType(type, right[index] as Type))
}

/**
 * Runtime name of a type: the value of `string(type(x))`.
 *
 * @example
 * import { listOf, stringType, typeName } from '@krmkit/cel/types'
 * typeName(listOf(stringType)) // 'list'
 */
export function typeName(type: Type): string {
  switch (type.kind) {
    case 'timestamp':
      return 'google.protobuf.Timestamp'
    case 'duration':
      return 'google.protobuf.Duration'
    case 'null':
      return 'null_type'
    case 'any':
      return 'google.protobuf.Any'
    case 'struct':
    case 'opaque':
    case 'param':
      return type.name
    default:
      return type.kind
  }
}

/** Type as in messages: `map(string, list(int))`. */
export function formatType(type: Type): string {
  if (type.kind === 'error') return '!error!'
  if ('nullable' in type) return `wrapper(${type.kind})`
  const base = type.kind === 'struct' || type.kind === 'opaque' || type.kind === 'param' ? type.name : type.kind
  const params = parametersOf(type)
  return params.length === 0 ? base : `${base}(${params.map(formatType).join(', ')})`
}

/** Arguments as in messages: `(int, string)`, or `string.(int)` for a member function. */
export function formatSignature(args: readonly Type[], member: boolean): string {
  const [first, ...rest] = args
  const shown = (list: readonly Type[]) => `(${list.map(formatType).join(', ')})`
  return member && first !== undefined ? `${formatType(first)}.${shown(rest)}` : shown(args)
}
