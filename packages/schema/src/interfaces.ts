import type { FieldError, JsonObject, JsonValue } from '@krmkit/meta'
import type { DecodedSize } from './decode/decoded-size.ts'
import type { DuplicateMembers } from './json/syntax.ts'
import type { SchemaNode } from './structural/schema-node.ts'

/**
 * The structural type model: one description of a type from which decoding, defaulting, canonical printing,
 * protobuf, OpenAPI, zod schemas and field management are all derived.
 *
 * Built-in kinds are read from facts (`createTypeSource`), custom resources from their OpenAPI schema; both become
 * the same `StructType`.
 */

/** What a field, list element or map value may hold. References are resolved on first use. */
export type TypeNode = ScalarNode | StructNode | SpecialNode | ListNode | MapNode

export interface ScalarNode {
  readonly kind: 'scalar'
  readonly scalar: Scalar
  /** `core/v1.Protocol` or `types.UID`: the named type, when it has a name of its own. */
  readonly named?: string
  /** Allowed values in source order, when the named type is an enumeration. Read lazily. */
  readonly enum?: readonly string[]
  readonly enumName?: string
  /** The generated OpenAPI does not print the values of this enumeration. */
  readonly enumHidden?: boolean
}

export interface StructNode {
  readonly kind: 'struct'
  /** `core/v1.PodSpec` */
  readonly name: string
  readonly struct: () => StructType
}

export interface SpecialNode {
  readonly kind: 'special'
  readonly special: SpecialName
  /** For types that are structs of their group (`apiextensions/v1.JSONSchemaPropsOrBool`): that name. */
  readonly name?: string
  /** For `JSONSchemaPropsOr…`: the schema that one of the alternatives holds. */
  readonly struct?: () => StructType
}

export interface ListNode {
  readonly kind: 'list'
  readonly of: TypeNode
  readonly named?: string
  /** An own protobuf message with `repeated items = 1`. */
  readonly protoWrapped?: boolean
}

/** Keys are strings. */
export interface MapNode {
  readonly kind: 'map'
  readonly of: TypeNode
  readonly named?: string
  /** Name of the key's type, when it has one: `core/v1.ResourceName`. */
  readonly keyNamed?: string
  readonly protoWrapped?: boolean
}

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
  /** Name in the message when it differs from the JSON name. */
  readonly name?: string
  readonly wire: 'varint' | 'bytes' | 'fixed64'
  readonly repeated: boolean
  /** Protobuf types of key and value, for maps. */
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
  /** Absent for types without protobuf and for `kind` and `apiVersion` of root types, which are in no message. */
  readonly proto?: ProtoField
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: ListType
  readonly listMapKeys?: readonly string[]
  readonly mapType?: MapType
  readonly structType?: MapType
  /** Gates that must be on for the field to have an effect. */
  readonly featureGates?: readonly string[]
  /** OpenAPI v3 prints a bare reference for fields without documentation. */
  readonly noDoc?: boolean
  readonly unionDiscriminator?: boolean
  readonly oneOf?: boolean
  /** `meta/v1.TypeMeta` when the field was promoted from an inline struct: the innermost struct that declares it. */
  readonly promotedFrom?: string
}

/**
 * How a struct is laid out in its protobuf message: a field under its number, or an inline struct that is a message of its
 * own (`embedded`), whose members are read from and written to the same JSON object.
 */
export type ProtoMember =
  | { readonly kind: 'field'; readonly number: number; readonly field: Field }
  | { readonly kind: 'embedded'; readonly number: number; readonly name: string; readonly struct: () => StructType }

export interface StructType {
  /** `core/v1.Pod`: folder of the group, version, type name. */
  readonly name: string
  /** `Pod` */
  readonly typeName: string
  /** Last part of the package: `v1` in `v1.Pod`. */
  readonly packageName: string
  /** Full API group, empty for core. */
  readonly group: string
  readonly version: string
  /** Name in OpenAPI documents and field-management schemas: `io.k8s.api.core.v1.Pod`. */
  readonly openapiName: string
  /** Full protobuf message name; absent for types without protobuf. */
  readonly protoName?: string
  /** Members in the order of their numbers; absent for types without protobuf. */
  readonly proto?: readonly ProtoMember[]
  /** True for kinds: the struct opens with `kind` and `apiVersion` of `TypeMeta`. */
  readonly root: boolean
  /** In JSON order, inline members promoted. */
  readonly fields: readonly Field[]
  /** By JSON name. */
  readonly field: ReadonlyMap<string, Field>
  readonly structType?: MapType
  readonly union?: boolean
  /** The generated OpenAPI has no definition of it. */
  readonly noOpenAPI?: boolean
  /** Members that are not in `fields` are kept as they are (open parts of custom resources). */
  readonly preserveUnknown?: boolean
  /** The facts it was read from: `TypeFacts` for built-in types, the schema for custom resources. */
  readonly raw: unknown
  /** For custom resources: how objects are read, filled in and put into order, instead of by `fields`. */
  readonly custom?: CustomCodec
}

/** What is done with objects of a custom resource. All results have the members of every object in the order of their names. */
export interface CustomCodec {
  readonly schema: SchemaNode
  readonly objectMeta: StructType
  /** `spec.preserveUnknownFields` */
  readonly preserveUnknownFields: boolean
  decode(
    value: unknown,
    options?: {
      readonly duplicates?: DuplicateMembers | undefined
      readonly collect?: boolean
      readonly problems?: readonly string[]
      readonly size?: DecodedSize | undefined
    },
  ): Decoded<Record<string, unknown>>
  /** The same, interrupted wherever it yields. */
  decodeSteps(value: unknown, options?: Parameters<CustomCodec['decode']>[1]): Generator<void, Decoded<Record<string, unknown>>>
  /** The same object when nothing is filled in. */
  applyDefaults(object: JsonObject, size?: DecodedSize): JsonObject
  /** Order of members; metadata in its normal form. Prunes nothing. */
  normalize(object: JsonObject): JsonObject
  /** A stored object of this version as it is read: pruned and filled in by the schema of today. */
  read(object: JsonObject): JsonObject
  /** The value without members that the schema does not know; nothing else changes. */
  known(value: JsonObject): JsonObject
}

/** Finds types by name (`core/v1.Pod`), reading group files lazily. */
export interface TypeSource {
  /** @throws SchemaError `UnknownType` when there is no such type. Aliases give the type they stand for. */
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
