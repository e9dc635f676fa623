/**
 * Raw facts of the built-in types: one JSON text per group folder.
 *
 * Absent members mean false, null or none. Members that no code reads are not declared.
 */

export interface GroupFacts {
  /** Full API group; empty for core. */
  readonly group: string
  readonly versions: Readonly<Record<string, VersionFacts>>
}

export interface VersionFacts {
  readonly goPackage: string
  readonly protoPackage: string
  readonly openapiPrefix: string
  readonly served?: boolean
  readonly enabledByDefault?: boolean
  readonly kinds: Readonly<Record<string, KindFacts>>
  readonly resources: Readonly<Record<string, ResourceFacts>>
  readonly types: Readonly<Record<string, TypeFacts>>
  readonly named?: Readonly<Record<string, NamedFacts>>
  /** Values of enumerations in source order. */
  readonly enums?: Readonly<Record<string, readonly string[]>>
  readonly constants?: Readonly<Record<string, readonly string[]>>
  /** Enumerations that the generated OpenAPI omits. */
  readonly enumsNotInOpenAPI?: readonly string[]
}

export interface KindFacts {
  readonly namespaced: boolean | null
  readonly metadata: 'object' | 'list' | null
  /** Name of the list kind, if any. */
  readonly list: string | null
  /** A release, such as `1.21`. */
  readonly introduced: string | null
  readonly deprecated: string | null
  readonly removed: string | null
  /** `group,version,kind` */
  readonly replacement: string | null
  readonly aliasOf?: string
  /** Registered in every group version (a star on both sides of the slash), or only in `v1` (unversioned). */
  readonly registeredAs?: string
}

export interface ResourceFacts {
  readonly kind: string
  readonly namespaced: boolean
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
  /** Set to `client` for kinds that are no longer served. */
  readonly from?: string
}

export interface TypeFacts {
  readonly root?: boolean
  readonly structType?: 'atomic' | 'granular'
  readonly union?: boolean
  readonly special?: string
  readonly copyOf?: string
  readonly noProto?: boolean
  readonly noOpenAPI?: boolean
  readonly fields?: readonly FieldFacts[]
}

/** A named type or alias. */
export interface NamedFacts {
  readonly type?: NodeFacts
  readonly aliasOf?: string
}

export interface FieldFacts {
  /** Empty for inline members. */
  readonly json: string
  readonly go: string
  readonly type: NodeFacts
  readonly pointer?: boolean
  readonly optional?: boolean
  readonly required?: boolean
  readonly omitempty?: boolean
  readonly inline?: boolean
  readonly embedded?: boolean
  readonly noJSONTag?: boolean
  readonly proto?: ProtoFacts
  readonly zero?: unknown
  readonly default?: unknown
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly listType?: 'atomic' | 'set' | 'map'
  readonly listMapKeys?: readonly string[]
  readonly mapType?: 'atomic' | 'granular'
  readonly structType?: 'atomic' | 'granular'
  readonly unionDiscriminator?: boolean
  readonly oneOf?: boolean
  readonly featureGate?: readonly string[]
  readonly noDoc?: boolean
}

/** Encoding of a field in its protobuf message. */
export interface ProtoFacts {
  readonly number: number
  readonly type: 'varint' | 'bytes' | 'fixed64'
  readonly rep: 'opt' | 'rep'
  readonly name?: string
  readonly map?: readonly [string, string]
}

/** Type of a field, list element or map value. */
export interface NodeFacts {
  readonly scalar?: 'string' | 'bool' | 'int32' | 'int64' | 'float64' | 'bytes' | 'any'
  readonly enum?: string
  readonly named?: string
  readonly ref?: string
  readonly special?: string
  readonly list?: NodeFacts
  readonly map?: NodeFacts
  readonly keyNamed?: string
  readonly protoWrapped?: boolean
}
