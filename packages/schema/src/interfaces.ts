import type { FieldError, JsonValue } from '@krmkit/meta'

/**
 * The structural type model: one description of a type from which decoding, defaulting, canonical printing,
 * protobuf, OpenAPI, zod schemas and field management are all derived.
 *
 * Built-in kinds are read from facts (`readTypes`), custom resources from their OpenAPI schema; both become
 * the same `StructType`.
 */

/** What a field, list element or map value may hold. `lazy` references are resolved on first use. */
export type TypeNode =
  | { readonly kind: 'scalar'; readonly scalar: Scalar; readonly enum?: readonly string[]; readonly enumName?: string }
  | { readonly kind: 'struct'; readonly name: string; readonly struct: () => StructType }
  | { readonly kind: 'special'; readonly special: SpecialName }
  | { readonly kind: 'list'; readonly of: TypeNode; /** own protobuf message with `repeated items = 1` */ readonly protoWrapped?: boolean }
  | { readonly kind: 'map'; readonly of: TypeNode; readonly protoWrapped?: boolean }

export type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'

/** Types with a hand-written wire form; their codecs live in `special/`. */
export type SpecialName =
  | 'Time'
  | 'MicroTime'
  | 'Duration'
  | 'FieldsV1'
  | 'Quantity'
  | 'QuantityValue'
  | 'IntOrString'
  | 'RawExtension'
  | 'Timestamp'
  | 'JSON'
  | 'JSONSchemaPropsOrArray'
  | 'JSONSchemaPropsOrBool'
  | 'JSONSchemaPropsOrStringArray'
  | 'GroupVersion'
  | 'Unknown'
  | 'RuntimeTypeMeta'

export type ListType = 'atomic' | 'set' | 'map'
export type MapType = 'atomic' | 'granular'

export interface ProtoField {
  readonly number: number
  readonly name?: string
  readonly wire: 'varint' | 'bytes' | 'fixed64'
  readonly repeated: boolean
  readonly map?: readonly [string, string]
}

/** A member of a struct. Inline members are already promoted into their parent, in JSON order. */
export interface Field {
  readonly json: string
  readonly type: TypeNode
  readonly pointer: boolean
  /** Marked optional or required in the source; both may be absent. */
  readonly optional: boolean
  readonly required: boolean
  readonly omitEmpty: boolean
  /** What is printed when the field is unset; absent: nothing is printed. `{}` = the zero object, recursively. */
  readonly zero?: JsonValue
  readonly default?: JsonValue
  readonly proto?: ProtoField
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: ListType
  readonly listMapKeys?: readonly string[]
  readonly mapType?: MapType
  readonly structType?: MapType
  /** OpenAPI v3 prints a bare reference for fields without documentation. */
  readonly noDoc?: boolean
}

export interface StructType {
  /** `core/v1.Pod`: folder of the group, version, type name. */
  readonly name: string
  /** Name in OpenAPI documents and field-management schemas: `io.k8s.api.core.v1.Pod`. */
  readonly openapiName: string
  /** Full protobuf message name; absent for types without protobuf. */
  readonly protoName?: string
  /** True for kinds: the struct opens with `kind` and `apiVersion`. */
  readonly root: boolean
  readonly fields: readonly Field[]
  /** By JSON name. */
  readonly field: ReadonlyMap<string, Field>
  readonly structType?: MapType
  /** Protobuf message is split: inline structs are messages of their own (`embedded` with a proto number). */
  readonly raw: unknown
}

/** Finds types by name (`core/v1.Pod`), reading group files lazily. */
export interface TypeSource {
  struct(name: string): StructType
  has(name: string): boolean
}

/** How unknown and duplicate fields are treated; @see API protocol specification, 4.6. */
export type FieldValidation = 'Ignore' | 'Warn' | 'Strict'

/** What decoding found besides the value: each entry is a complete sentence as clients see it. */
export interface StrictProblems {
  /** For example `unknown field "spec.foo"` or `duplicate field "metadata.name"`, in document order. */
  readonly problems: readonly string[]
}

/** Result of decoding a body against a type. */
export interface Decoded<T = unknown> extends StrictProblems {
  /** Canonical form: members in field order, maps sorted, empty members that print nothing left out, zero forms filled in. */
  readonly object: T
}

export type Defaulter = (object: never) => void
export type Validator = (object: never) => readonly FieldError[]
