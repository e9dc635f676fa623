import type { Work } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import type { DecodedSize } from './json/decoded-size.ts'
import type { DuplicateMembers } from './json/syntax.ts'
import type { SchemaNode } from './schema-node.ts'

/**
 * The structural type model: one description of a type, from which decoding, defaulting, canonical printing, protobuf, OpenAPI,
 * zod schemas and field management are derived.
 *
 * Built-in kinds come from facts (`createTypeSource`), custom resources from their OpenAPI schema. Both become a `StructType`.
 */

/** Type of a field, list element or map value. References resolve on first use. */
export type TypeNode = ScalarNode | StructNode | SpecialNode | ListNode | MapNode

/** A scalar, optionally of a named type. */
export interface ScalarNode {
  readonly kind: 'scalar'
  readonly scalar: Scalar
  /** Name of the named type, such as `core/v1.Protocol` or `types.UID`. */
  readonly named?: string
  /** Allowed values of an enumeration in source order. Resolved lazily. */
  readonly enum?: readonly string[]
  readonly enumName?: string
  /** Whether the generated OpenAPI omits the values of this enumeration. */
  readonly enumHidden?: boolean
}

/** A reference to a struct. */
export interface StructNode {
  readonly kind: 'struct'
  /** For example `core/v1.PodSpec`. */
  readonly name: string
  readonly struct: () => StructType
}

/** A type with a hand-written wire form. */
export interface SpecialNode {
  readonly kind: 'special'
  readonly special: SpecialName
  /** Name of the struct where the special type is one, such as `apiextensions/v1.JSONSchemaPropsOrBool`. */
  readonly name?: string
  /** For `JSONSchemaPropsOr…`: the type of the schema alternative. */
  readonly struct?: () => StructType
}

export interface ListNode {
  readonly kind: 'list'
  readonly of: TypeNode
  readonly named?: string
  /** Whether the list is a separate protobuf message with `repeated items = 1`. */
  readonly protoWrapped?: boolean
}

/** A map with string keys. */
export interface MapNode {
  readonly kind: 'map'
  readonly of: TypeNode
  readonly named?: string
  /** Name of the key type, such as `core/v1.ResourceName`; absent for plain strings. */
  readonly keyNamed?: string
  readonly protoWrapped?: boolean
}

/** Scalar types of Go. `bytes` is base64 text in JSON; `any` is an untyped value. */
export type Scalar = 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'

/** Types with a hand-written wire form; `decode/special.ts` and `protobuf/special.ts` hold their codecs. */
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

/** `x-kubernetes-list-type` */
export type ListType = 'atomic' | 'set' | 'map'
/** `x-kubernetes-map-type` */
export type MapType = 'atomic' | 'granular'

/** Encoding of a field in its protobuf message. */
export interface ProtoField {
  readonly number: number
  /** Name in the message where it differs from the JSON name. */
  readonly name?: string
  readonly wire: 'varint' | 'bytes' | 'fixed64'
  readonly repeated: boolean
  /** Protobuf types of key and value; for maps only. */
  readonly map?: readonly [string, string]
}

/** A member of a struct. Inline members are promoted into their parent, in JSON order. */
export interface Field {
  readonly json: string
  /** Name in Go where it is not the JSON name with a capital first letter. */
  readonly goName?: string
  readonly type: TypeNode
  readonly pointer: boolean
  /** Whether the source marks the field as optional or required; it may have neither marker. */
  readonly optional: boolean
  readonly required: boolean
  readonly omitEmpty: boolean
  /** Value printed for the unset field; absent when nothing is printed. `{}` stands for the zero object, recursively. */
  readonly zero?: JsonValue
  readonly default?: JsonValue
  /** Absent for types without protobuf, and for `kind` and `apiVersion` of root types, which no message carries. */
  readonly proto?: ProtoField
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: ListType
  readonly listMapKeys?: readonly string[]
  readonly mapType?: MapType
  readonly structType?: MapType
  /** Feature gates that must be enabled for the field to take effect. */
  readonly featureGates?: readonly string[]
  /** Whether the field has no documentation: OpenAPI v3 then prints a bare reference. */
  readonly noDoc?: boolean
  readonly unionDiscriminator?: boolean
  readonly oneOf?: boolean
  /** For promoted fields: the innermost inline struct that declares the field, such as `meta/v1.TypeMeta`. */
  readonly promotedFrom?: string
}

/**
 * Member of a protobuf message: a field under its number, or an inline struct with a separate message (`embedded`). Members of
 * an embedded message share the JSON object of their parent.
 */
export type ProtoMember =
  | { readonly kind: 'field'; readonly number: number; readonly field: Field }
  | { readonly kind: 'embedded'; readonly number: number; readonly name: string; readonly struct: () => StructType }

/** A struct or kind. */
export interface StructType {
  /** Group folder, version and type name: `core/v1.Pod`. */
  readonly name: string
  /** For example `Pod`. */
  readonly typeName: string
  /** Last part of the Go package: `v1` in `v1.Pod`. */
  readonly packageName: string
  /** Full API group; empty for core. */
  readonly group: string
  readonly version: string
  /** Name in OpenAPI documents and field-management schemas: `io.k8s.api.core.v1.Pod`. */
  readonly openapiName: string
  /** Full protobuf message name; absent for types without protobuf. */
  readonly protoName?: string
  /** Message members in the order of their numbers; absent for types without protobuf. */
  readonly proto?: readonly ProtoMember[]
  /** True for kinds: the struct inlines `TypeMeta` (`kind` and `apiVersion`). */
  readonly root: boolean
  /** Fields in JSON order, inline members promoted. */
  readonly fields: readonly Field[]
  /** Fields by JSON name. */
  readonly field: ReadonlyMap<string, Field>
  readonly structType?: MapType
  readonly union?: boolean
  /** Whether the generated OpenAPI has no definition of this type. */
  readonly noOpenAPI?: boolean
  /** Whether unknown members are preserved (open parts of custom resources). */
  readonly preserveUnknown?: boolean
  /** Source of the type: `TypeFacts` for built-in types, the schema for custom resources. */
  readonly raw: unknown
  /** Codec of a custom resource; replaces `fields`. */
  readonly custom?: CustomCodec
}

/** Codec of a custom resource. Its results have the members of every object sorted by name. */
export interface CustomCodec {
  readonly schema: SchemaNode
  readonly objectMeta: StructType
  /** `spec.preserveUnknownFields` of the CustomResourceDefinition. */
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
  /** Returns the same object when no default applies. */
  applyDefaults(object: JsonObject, size?: DecodedSize): JsonObject
  /** Sorts members and normalizes metadata. Does not prune. */
  normalize(object: JsonObject): JsonObject
  /**
   * Prunes and defaults a stored object of this version with the current schema. Returns the same object when nothing
   * changes.
   */
  readStored(object: JsonObject): JsonObject
  /** Returns the value without fields that the schema does not specify; changes nothing else. */
  dropUnknownFields(value: JsonObject): JsonObject
  /** Pausable forms of the same operations, for large objects. */
  readonly paced: PacedCustomCodec
}

/** Pausable operations of a {@link CustomCodec}. */
export interface PacedCustomCodec {
  decode(value: unknown, options?: Parameters<CustomCodec['decode']>[1]): Work<Decoded<Record<string, unknown>>>
  applyDefaults(object: JsonObject, size?: DecodedSize): Work<JsonObject>
  normalize(object: JsonObject): Work<JsonObject>
  readStored(object: JsonObject): Work<JsonObject>
  /** The value must be normalized. */
  dropUnknownFields(value: JsonObject): Work<JsonObject>
}

/** Finds types by name (`core/v1.Pod`). Group files are read lazily. */
export interface TypeSource {
  /**
   * Resolves aliases.
   *
   * @throws SchemaError `UnknownType`
   */
  struct(name: string): StructType
  has(name: string): boolean
}

/** Problems of strict decoding: each is a complete sentence for the client. */
export interface StrictProblems {
  /** Document order. For example `unknown field "spec.foo"` or `duplicate field "metadata.name"`. */
  readonly problems: readonly string[]
}

/** Result of decoding a body against a type. */
export interface Decoded<T = unknown> extends StrictProblems {
  /** Canonical form: members in field order, maps sorted, empty members omitted where Go omits them, zero values filled in. */
  readonly object: T
}
