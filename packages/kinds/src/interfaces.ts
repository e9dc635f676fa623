import type {
  ApiObject,
  Clock,
  DeepReadonly,
  Features,
  FieldError,
  GroupResource,
  GroupVersion,
  GroupVersionKind,
  JsonObject,
  NamingProfile,
  Random,
  UserInfo,
} from '@krmkit/meta'
import type { StructType } from '@krmkit/schema'

/**
 * A resource as data, and the policy of its kind: everything the generic registry has to ask.
 *
 * Policies work on the storage version of a kind. Functions are pure: the same input gives the same output,
 * and only what is documented as mutable is changed.
 */

/** One resource (or sub-resource) of a group version as discovery shows it. */
export interface ResourceInfo {
  /** Plural, or `plural/subresource`. */
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  /** Kind of the bodies; `group` and `version` differ from the path's for a few sub-resources. */
  readonly kind: GroupVersionKind
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /**
   * An operation rather than a stored object (reviews, bindings, eviction, scale, token, log, exec, proxy, component statuses):
   * the registry passes the request to a handler. Absent: false.
   */
  readonly virtual?: boolean
}

/** A kind served at one group version. */
export interface KindInfo extends GroupVersionKind {
  readonly listKind: string
  readonly namespaced: boolean
  /** Type of the body. */
  readonly type: () => StructType
  /** Release that introduced, deprecated and removed it, as `1.33`; and what replaces it. */
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  readonly replacement?: GroupVersionKind
}

/** What policies may know about the request at hand. */
export interface StrategyContext {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  readonly user?: UserInfo
  /** Group and version of the request's path, where it is not that of the storage. */
  readonly requestVersion?: GroupVersion
  /** Adds a Warning header to the answer. Absent: nobody hears it. */
  readonly warn?: (text: string) => void
  /** Whether containers may be privileged (`--allow-privileged`); default false, as on the stock server. */
  readonly allowPrivileged?: boolean
}

/** A column of a Table; @see API protocol specification, 2.5. */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` marks the column that holds the object's name. */
  readonly format?: string
  readonly description: string
  /** 0 = always shown, above 0 = only in wide output. */
  readonly priority: number
}

export type Cell = string | number | boolean | null

/** Something that marks a row; @see `TableRowCondition` of meta. */
export interface RowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export interface PrintOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Names of labels and annotations that are read. Default: the stock ones. */
  readonly profile?: NamingProfile
}

/** How a kind is printed. Objects are of the storage version. */
export interface Printer<T extends ApiObject = ApiObject> {
  readonly columns: readonly Column[]
  /** One cell for each column. */
  cells(object: DeepReadonly<T>, options: PrintOptions): readonly Cell[]
  /** Conditions of the row. Absent: none. */
  conditions?(object: DeepReadonly<T>): readonly RowCondition[]
  /** Order of the rows of a list. Absent: as listed. */
  compare?(a: DeepReadonly<T>, b: DeepReadonly<T>): number
}

/** `status`, `scale`, `binding`, ...: how a sub-resource changes its object. */
export interface SubresourceStrategy<T extends ApiObject = ApiObject> {
  /** Resets everything the sub-resource may not change. `object` is the draft, `old` the stored one. */
  prepareForUpdate(object: T, old: DeepReadonly<T>, context: StrategyContext): void
  /** Complete: metadata rules included, in the stock server's order. */
  validateUpdate(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): FieldError[]
}

/**
 * What data cannot say about a kind. Every member is optional; what is absent follows the generic rule given with it.
 */
export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * Defaults that depend on other fields or that the type's data does not carry. Mutates `object`, which is of `version`
   * and has the defaults of the data already.
   */
  defaults?(object: T, version: string, profile: NamingProfile): void
  /** Clears and sets what clients may not choose (status, generation). Mutates the draft. */
  prepareForCreate?(object: T, context: StrategyContext): void
  /** As above for updates; must also raise `metadata.generation` where the kind has one. */
  prepareForUpdate?(object: T, old: DeepReadonly<T>, context: StrategyContext): void
  /**
   * What has to be loaded before an object of this kind can be validated; absent or `undefined`: nothing. `old` is the stored
   * object of an update. Validation functions may be called when it has resolved.
   */
  ready?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined): Promise<void> | undefined
  /** Complete list of errors for a new object, metadata rules included (`validateObjectMeta`), in the stock server's order. Absent: metadata rules with a DNS subdomain name, and the enums of the type. */
  validate?(object: DeepReadonly<T>, context: StrategyContext): FieldError[]
  /** Complete list of errors for an update. Absent: `validateObjectMetaUpdate`, then `validate`. */
  validateUpdate?(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): FieldError[]
  /** Whether an object is valid depends on what it was before: updates that change nothing are validated like others. Default false. */
  readonly comparesWithOld?: boolean
  /** Texts of Warning headers for a write (deprecated fields and annotations). */
  warnings?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: StrategyContext): string[]
  /**
   * Members that the body of a POST or PUT must name although their zero value is legal; @see storage specification, 2.7 and 2.8.
   * Decoding gives an absent member its zero form, so that only the body itself (JSON or YAML) tells. Member paths by
   * sub-resource, the main resource under ``; a missing one is refused with 422 and `Required value`. In a path, `*` is every item
   * of a list, and `?` marks what is asked for under a condition: see `missingMembers`.
   */
  readonly requiredMembers?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** PUT on a missing name creates it. Default false. */
  readonly allowCreateOnUpdate?: boolean
  /** PUT without a resourceVersion is allowed. Default true. */
  readonly allowUnconditionalUpdate?: boolean
  /** Field selectors besides `metadata.name` and `metadata.namespace`: path -> value. Absent: none. */
  readonly selectableFields?: Readonly<Record<string, (object: DeepReadonly<T>) => string>>
  /** What becomes of dependents when a deletion does not say. Default `Background`. */
  readonly defaultPropagation?: 'Background' | 'Orphan'
  /** Text of a Warning header when a deletion leaves propagation to `defaultPropagation`. */
  readonly defaultPropagationWarning?: string
  /**
   * Kinds that mark their objects themselves when they are deleted: changes the copy that is stored, `deletionTimestamp` set
   * already. No grace period, no raised generation; the last finalizer gone ends it.
   */
  beginDeletion?(object: T, context: StrategyContext): void
  /**
   * Finalizers outside `metadata` that hold a deletion (`spec.finalizers` of namespaces). A kind with such finalizers has no grace
   * period: DELETE marks the object through `beginDeletion`, and the object goes once both lists are empty. Absent: none.
   */
  pendingFinalizers?(object: DeepReadonly<T>): readonly string[]
  /**
   * Body of a successful DELETE. `Status`: a Status once the object is gone, the object while finalizers or a grace period hold it.
   * `Object`: the object in either case. `StatusAlways`: a Status in either case. Default `Status`.
   */
  readonly deleteAnswer?: 'Status' | 'Object' | 'StatusAlways'
  /**
   * The whole collection is kept in memory for admission, which reads it on nearly every request: for kinds with few objects that
   * seldom change. Default false.
   */
  readonly keepInMemory?: boolean
  /**
   * Creates the allocator of values that no two objects of the kind may share, such as cluster addresses and node ports. Called once
   * per registry, on the first write. Absent: the kind has no such values.
   */
  createAllocator?(environment: AllocatorEnvironment): Allocator<T>
  /** Seconds an object keeps living after DELETE; absent or 0: it goes at once. Given the requested grace period, if any. */
  gracePeriodSeconds?(object: DeepReadonly<T>, requested: number | undefined): number
  readonly printer?: Printer<T>
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>
  /** Where `/scale` finds its numbers, as member paths from the object's root. */
  readonly scale?: {
    readonly specReplicas: readonly string[]
    /** The same by apiVersion, null where there is no `/scale`, for kinds whose versions differ. Owners in other versions are dropped. */
    readonly specReplicasByVersion?: Readonly<Record<string, readonly string[] | null>>
    readonly statusReplicas: readonly string[]
    /** The label selector in string form. */
    selector(object: DeepReadonly<T>): string
  }
  /** Fields that a write on the main resource (key ``) or on a sub-resource never changes: they are not owned. Member paths such as `status`, per API version of the request. */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>
}

/** Assigns values that no two objects of a kind may share. Writes to a kind with an allocator run one after another. */
export interface Allocator<T extends ApiObject = ApiObject> {
  /**
   * Fills in the values that a prepared object lacks, and checks those it asks for. Mutates `object`; `old` is the stored object of an
   * update.
   *
   * @returns the values that cannot be granted; the write is refused with these errors alone.
   */
  allocate(object: T, old: DeepReadonly<T> | undefined, context: StrategyContext): Promise<FieldError[]>
}

/** Ranges that addresses and ports of services come from. */
export interface ServiceNetwork {
  /** One range per IP family, the primary family first: `10.0.0.0/24`. */
  readonly ranges: readonly string[]
  /** First and last port that is opened on nodes. */
  readonly nodePorts: { readonly from: number; readonly to: number }
}

/** Facilities of the registry that an allocator works with. */
export interface AllocatorEnvironment {
  readonly profile: NamingProfile
  /** Ranges of cluster addresses and node ports; absent: the default network. */
  readonly serviceNetwork?: ServiceNetwork | undefined
  /**
   * Follows all objects of a resource: `sink` receives the present ones before the promise resolves.
   *
   * @returns a function that brings `sink` up to date with the newest state; `undefined` when the resource is not served.
   */
  follow(resource: GroupResource, sink: AllocationSink): Promise<(() => Promise<void>) | undefined>
}

/** Receives the state of a followed collection. */
export interface AllocationSink {
  put(object: DeepReadonly<ApiObject>): void
  remove(object: DeepReadonly<ApiObject>): void
  /** Discards everything; the present objects follow. */
  clear(): void
}

/** Loss-free translation between two versions of a kind, by way of the storage version. */
export interface Conversion {
  readonly kind: string
  readonly from: { readonly group: string; readonly version: string }
  readonly to: { readonly group: string; readonly version: string }
  /** Returns a new object of `to`; never changes its argument. */
  convert(object: DeepReadonly<ApiObject>): ApiObject
}

/** A resource with all a registry needs to serve it: one for each served plural of each group version. */
export interface ResourceDefinition {
  readonly group: string
  readonly version: string
  readonly resource: ResourceInfo
  readonly kind: KindInfo
  readonly subresources: readonly ResourceInfo[]
  readonly strategy: Strategy
  /**
   * Where objects are stored: group/plural of the storage version. `prefix` is the path of the collection below the root of
   * the store (`services/specs`); absent: `group/resource`.
   */
  readonly storage: { readonly group: string; readonly version: string; readonly resource: string; readonly prefix?: string }
  /** To and from the storage version; absent when this is the storage version. */
  readonly toStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
  readonly fromStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
  /**
   * Versions that are translated by others, which takes time: objects are worked with in this version, not in the storage version.
   * Instead of `toStorage` and `fromStorage`.
   */
  readonly conversion?: ObjectConversion
  /** Defined by the program that runs the server, not by an object in the store. */
  readonly definedInCode?: boolean
  /** For custom resources: what OpenAPI documents say of them. They have no protobuf form. */
  readonly custom?: CustomForm
  /** Text of the Warning header of every request; absent: what the lifecycle of the kind says. */
  readonly deprecationWarning?: string
}

/** Between one version of a resource and what is stored. Results are the caller's own; failures are passed on as they are. */
export interface ObjectConversion {
  /** Stored objects, of whatever version they were written in, as this version shows them: all of them in one step. */
  read(objects: readonly DeepReadonly<ApiObject>[]): Promise<readonly ApiObject[]>
  /** An object of this version in the storage version. */
  write(object: DeepReadonly<ApiObject>): Promise<ApiObject>
}

/** The OpenAPI form of a custom resource. */
export interface CustomForm {
  /** `openAPIV3Schema` of the version; absent: objects of any content. */
  readonly schema?: JsonObject
  readonly preserveUnknownFields?: boolean
  /** The same as long as what the definition asks for stays the same; another one ends watches. Absent: it never changes. */
  readonly edition?: object
  /** The definition is going away: instances are removed and none can be made. */
  readonly terminating?: boolean
  /** JSON paths. */
  readonly selectableFields?: readonly string[]
}
