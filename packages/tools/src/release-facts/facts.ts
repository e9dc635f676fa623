import type { FieldFacts, NodeFacts } from '@krmkit/schema/model'

/** The files that the extractor writes for a release; release-facts/README.md describes them. */

export interface ReleaseFiles {
  /** Groups by folder. */
  readonly groups: ReadonlyMap<string, GroupFile>
  readonly release: ReleaseFile
  /** Texts of the YAML files of default roles by name; empty for releases whose modules have none. */
  readonly roles: ReadonlyMap<string, string>
}

export interface GroupFile {
  readonly group: string
  readonly versions: Readonly<Record<string, VersionFile>>
}

export interface VersionFile {
  readonly goPackage: string
  readonly protoPackage: string
  readonly openapiPrefix: string
  /** Absent in meta.k8s.io, as is `served`. */
  readonly enabledByDefault?: boolean
  readonly served?: boolean
  readonly kinds: Readonly<Record<string, KindFile>>
  readonly resources: Readonly<Record<string, ResourceFile>>
  readonly types: Readonly<Record<string, TypeFile>>
  readonly named?: Readonly<Record<string, NamedFile>>
  readonly enums: Readonly<Record<string, readonly string[]>>
  readonly constants?: Readonly<Record<string, readonly string[]>>
  readonly scalars?: Readonly<Record<string, string>>
  readonly enumsNotInOpenAPI?: readonly string[]
  /** Markers of declarative validation of string types. */
  readonly stringRules?: Readonly<Record<string, Markers>>
}

/** Markers of declarative validation by name; one that is given more than once has a list. */
export type Markers = Readonly<Record<string, string | readonly string[]>>

export interface KindFile {
  readonly namespaced?: boolean | null
  readonly metadata: 'object' | 'list' | null
  readonly list?: string | null
  readonly introduced?: string | null
  readonly deprecated?: string | null
  readonly removed?: string | null
  readonly replacement?: string | null
  readonly explicit?: readonly string[]
  readonly listLifecycle?: unknown
  readonly client?: unknown
  readonly aliasOf?: string
  readonly registeredAs?: string
}

export interface ResourceFile {
  readonly kind: string
  readonly namespaced: boolean
  readonly singular?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly verbs?: readonly string[]
  /** `client`: not served, known from client-go. */
  readonly from?: string
}

export interface TypeFile {
  readonly structType?: string
  readonly union?: boolean
  readonly special?: string
  readonly copyOf?: string
  readonly noProto?: boolean
  readonly noOpenAPI?: boolean
  readonly validation?: Markers
  readonly fields: readonly FieldFile[]
  readonly [member: string]: unknown
}

/** A field, with the members that no package reads. */
export interface FieldFile extends FieldFacts {
  readonly omitzero?: boolean
  readonly zeroOrOneOf?: unknown
  readonly defaultRef?: string
  readonly validation?: Markers
}

export interface NamedFile {
  readonly type?: NodeFacts
  readonly aliasOf?: string
  readonly protoWrapped?: unknown
}

export interface ReleaseFile {
  readonly release: string
  /** Versions by module. */
  readonly modules: Readonly<Record<string, string>>
  readonly featureGates: Readonly<Record<string, GateFile>>
  readonly featureGateDependencies: Readonly<Record<string, readonly string[]>>
  /** Priorities of group and version by `group/version`. */
  readonly priorities: Readonly<Record<string, readonly [number, number]>>
  /** apiVersion by `group/resource`. */
  readonly storageVersions: Readonly<Record<string, string>>
  /** Name, type, format and priority of the columns by `group.Kind`. */
  readonly columns: Readonly<Record<string, readonly (readonly string[])[]>>
  readonly admissionPlugins: readonly string[]
  readonly admissionPluginsOn: readonly string[]
  /** Resources that are on by default although their version is not: `flowcontrol/v1beta3/flowschemas`. */
  readonly enabledResources?: readonly string[]
  readonly flags: Readonly<Record<string, FlagFile | null>>
}

export interface GateFile {
  /** The component that registers the gate. */
  readonly in: string
  readonly history: readonly GateStage[]
}

export interface GateStage {
  /** Absent in releases whose gates have no history, and for gates of clients. */
  readonly since?: string
  readonly stage: string
  readonly default: boolean
  readonly locked?: boolean
}

export interface FlagFile {
  readonly type?: string
  readonly deprecated?: boolean
}
