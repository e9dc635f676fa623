/** The facts of the built-in types, as the files of packages/tools/facts have them. */

/** A type of a member. Names of types: `core/v1.Pod`. */
export interface TypeNode {
  readonly scalar?: string
  readonly named?: string
  readonly enum?: string
  readonly special?: string
  readonly ref?: string
  readonly list?: TypeNode
  readonly map?: TypeNode
  readonly keyNamed?: string
  readonly protoWrapped?: boolean
}

export interface ProtoFacts {
  readonly number: number
  readonly type: string
  readonly rep: string
  readonly map?: readonly string[]
  readonly name?: string
}

export interface FieldFacts {
  readonly json: string
  readonly go: string
  readonly type: TypeNode
  readonly pointer?: boolean
  readonly optional?: boolean
  readonly required?: boolean
  readonly omitempty?: boolean
  readonly inline?: boolean
  readonly proto?: ProtoFacts
  /** How an unset member is written; absent when it is not. */
  readonly zero?: unknown
  readonly listType?: string
  readonly listMapKeys?: readonly string[]
  readonly mapType?: string
  readonly structType?: string
  readonly patchStrategy?: string
  readonly patchMergeKey?: string
  readonly noDoc?: boolean
  readonly oneOf?: string
  readonly unionDiscriminator?: boolean
  readonly featureGate?: readonly string[]
  readonly default?: unknown
}

export interface StructFacts {
  readonly fields?: readonly FieldFacts[]
  readonly structType?: string
  readonly union?: boolean
  readonly special?: string
  readonly noProto?: boolean
  readonly noOpenAPI?: boolean
  readonly copyOf?: string
  readonly protoGaps?: readonly number[]
}

export interface NamedFacts {
  readonly aliasOf?: string
  readonly type?: TypeNode
}

export interface KindFacts {
  readonly namespaced?: boolean | null
  readonly metadata?: string | null
  readonly list?: string | null
  readonly introduced?: string | null
  readonly deprecated?: string | null
  readonly removed?: string | null
  readonly replacement?: string | null
  readonly aliasOf?: string
  readonly registeredAs?: string
}

export interface ResourceFacts {
  readonly kind: string
  readonly namespaced: boolean
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
  readonly from?: string
}

type ByName<T> = Readonly<Record<string, T>>

export interface VersionFacts {
  readonly goPackage: string
  readonly protoPackage: string
  readonly openapiPrefix: string
  readonly enabledByDefault?: boolean
  readonly served?: boolean
  readonly kinds: ByName<KindFacts>
  readonly resources?: ByName<ResourceFacts>
  readonly types: ByName<StructFacts>
  readonly enums?: ByName<readonly unknown[]>
  readonly constants?: ByName<readonly unknown[]>
  readonly named?: ByName<NamedFacts>
  readonly enumsNotInOpenAPI?: readonly string[]
}

export interface GroupFacts {
  readonly group: string
  readonly versions: ByName<VersionFacts>
}

/** By folder, which is the name of the file. */
export type Groups = ReadonlyMap<string, GroupFacts>

/** A group version. */
export interface GroupVersion {
  readonly folder: string
  readonly group: string
  readonly version: string
  readonly facts: VersionFacts
}

/** A type and the group version that declares it. */
export interface Located extends GroupVersion {
  readonly type: string
}

/** Finds a type by its name; undefined when no file declares its group version. */
export type Locate = (name: string) => Located | undefined
