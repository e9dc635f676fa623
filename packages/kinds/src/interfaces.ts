import type { Work } from '@krmkit/base/work'
import type { CertificateRequest } from '@krmkit/certificates/request'
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
import type { TypeMeta } from '@krmkit/schema/decode'
import type { AllocationProblem, AllocationSink, Grant, SharedAllocations } from './allocation-types.ts'
import type { MarkerRules } from './marker-rule-types.ts'
import type { ObjectConversion } from './object-conversion.ts'

/**
 * The contract of this package: a resource as data, and the strategy of its kind.
 *
 * Strategies work on the storage version of a kind. Functions are pure: the same input gives the same output, and they change
 * only what is documented as mutable.
 */

/** One resource (or sub-resource) of a group version, as in discovery. */
export interface ResourceInfo {
  /** Plural, or `plural/subresource`. */
  readonly name: string
  readonly singularName: string
  readonly namespaced: boolean
  /** Kind of the bodies; its group and version differ from those of the path for a few sub-resources. */
  readonly kind: GroupVersionKind
  readonly verbs: readonly string[]
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  /**
   * An operation rather than a stored object (reviews, bindings, eviction, scale, token, log, exec, proxy, component
   * statuses), served by a handler. Absent: false.
   */
  readonly virtual?: boolean
}

/** A kind served at one group version. */
export interface KindInfo extends GroupVersionKind {
  readonly listKind: string
  readonly namespaced: boolean
  /** Type of the body. */
  readonly type: () => StructType
  /** Release that introduced, deprecated and removed it, as `1.33`, and the kind that replaces it. */
  readonly introduced?: string
  readonly deprecated?: string
  readonly removed?: string
  readonly replacement?: GroupVersionKind
}

/** What defaults depend on. */
export interface DefaultsContext {
  readonly features?: Features
  readonly clock?: Pick<Clock, 'now'>
}

/** What a strategy knows about the request. */
export interface StrategyContext {
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  readonly user?: UserInfo
  /** Group and version of the request's path, if they differ from those of the storage version. */
  readonly requestVersion?: GroupVersion
  /** Name of the subresource that is written, such as `status`. Absent: the object itself. */
  readonly subresource?: string
  /** Nothing is stored. Default false. */
  readonly dryRun?: boolean
  /** Adds a Warning header to the response. Absent: warnings are dropped. */
  readonly warn?: (text: string) => void
  /** What was sent, parsed with literals, where a number such as `1.0` is a float without a fraction; of a patch, the members that it sets. */
  readonly sent?: (() => unknown) | undefined
  /** Kind and version that a custom resource states where they are not its own; validation refuses them. */
  readonly statedType?: TypeMeta | undefined
  /** Whether containers may be privileged (`--allow-privileged`). Default false, as on kube-apiserver. */
  readonly allowPrivileged?: boolean
  /** Objects of other kinds, as far as rules depend on them. Absent: these rules do not apply. */
  readonly objects?: { get(resource: GroupResource, namespace: string, name: string): DeepReadonly<ApiObject> | undefined }
  /** The problem of the signature of a certificate request; absent: signatures are left to signers. */
  readonly requestSignatureError?: ((request: CertificateRequest) => string | undefined) | undefined
}

/** A column of a Table. @see API protocol specification, 2.5 */
export interface Column {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** `name` marks the column that holds the object's name. */
  readonly format?: string
  readonly description: string
  /** 0: always shown; above 0: shown in wide output only. */
  readonly priority: number
}

export type Cell = string | number | bigint | boolean | null

/** A condition of a row. @see `TableRowCondition` of meta */
export interface RowCondition {
  readonly type: string
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: string
  readonly message: string
}

export interface PrintOptions {
  /** Milliseconds since the epoch. */
  readonly now: number
  /** Domain of labels and annotations to read. Default: the stock one. */
  readonly profile?: NamingProfile
}

/** Columns and cells of a kind. Objects are of the storage version. */
export interface Printer<T extends ApiObject = ApiObject> {
  readonly columns: readonly Column[]
  /** One cell per column. */
  cells(object: DeepReadonly<T>, options: PrintOptions): readonly Cell[]
  /** Conditions of the row. Absent: none. */
  conditions?(object: DeepReadonly<T>): readonly RowCondition[]
  /** Order of the rows of a list. Absent: the order of the list. */
  compare?(a: DeepReadonly<T>, b: DeepReadonly<T>): number
}

/** Loads a printer; every call gives the same one. */
export type PrinterLoader<T extends ApiObject = ApiObject> = () => Promise<Printer<T>>

/**
 * The errors of a validation, or a generator of them that may be interrupted at each yield: large objects are validated in slices.
 * `runValidation` returns the errors of either.
 */
export type Validation = FieldError[] | Work<FieldError[]>

/**
 * Nothing once the object is prepared or defaulted, or a generator that prepares it and may be interrupted at each yield: large objects are prepared
 * in slices. `runPreparation` prepares the object in either case.
 */
export type Preparation = void | Work

/** How a sub-resource (`status`, `scale`, `binding`, ...) changes its object. */
export interface SubresourceStrategy<T extends ApiObject = ApiObject> {
  /** Restores everything that the sub-resource may not change. `object` is the draft, `old` the stored object. */
  prepareForUpdate(object: T, old: DeepReadonly<T>, context: StrategyContext): Preparation
  /** All errors, metadata included, in the order of kube-apiserver. */
  validateUpdate(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): Validation
  /** Texts of Warning headers. Absent: none, those of the kind neither. */
  warnings?(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): string[]
}

/** What a kind decides beyond its data. Every member is optional; each names the generic rule that applies in its absence. */
export interface Strategy<T extends ApiObject = ApiObject> {
  /**
   * Sets defaults that depend on other fields or that the type's data does not carry. Mutates `object`, which is of `version`
   * and already has the defaults of the data. Those of large objects are set when the generator ends.
   *
   * @param context absent: the features of the newest release, and the clock of the system
   */
  defaults?(object: T, version: string, profile: NamingProfile, context?: DefaultsContext): Preparation
  /** Clears and sets what clients may not choose (status, generation). Mutates the draft. */
  prepareForCreate?(object: T, context: StrategyContext): Preparation
  /** As `prepareForCreate`, for updates; also raises `metadata.generation` if the kind has one. */
  prepareForUpdate?(object: T, old: DeepReadonly<T>, context: StrategyContext): Preparation
  /**
   * Loads what the validation of this object needs; absent or `undefined`: nothing. `old` is the stored object of an update.
   * Validation may be called after it resolves.
   */
  ready?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined): Promise<void> | undefined
  /**
   * Loads what prints differences into the errors of updates; `undefined`: loaded. Validation that can wait loads it when it reports such an
   * error, other validation omits the difference until then.
   */
  loadDifferences?(): Promise<void> | undefined
  /**
   * Returns all errors of a new object, metadata included (`validateObjectMeta`), in the order of kube-apiserver. Absent:
   * metadata rules with a DNS subdomain name, and the enums of the type.
   */
  validate?(object: DeepReadonly<T>, context: StrategyContext): Validation
  /** Returns all errors of an update. Absent: `validateObjectMetaUpdate`, then `validate`. */
  validateUpdate?(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): Validation
  /**
   * Completes a valid object with what depends on its final name or on the prepared object, before it is stored: a generator that can be
   * interrupted at each yield. Mutates the draft.
   */
  canonicalize?(object: T, context: StrategyContext): Work
  /** Validity depends on the stored object, so updates without changes are validated too. Default false. */
  readonly comparesWithOld?: boolean
  /** Texts of Warning headers for a write (deprecated fields and annotations). Subresources with a strategy have their own. */
  warnings?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: StrategyContext): string[]
  /**
   * Members that objects must have although their zero value is legal. Decoding gives an absent member its zero value, so the undecoded
   * value is checked: the body of a POST or PUT (JSON, YAML or CBOR), the result of a patch, the configuration of an apply merged into
   * the object. A missing member is rejected with 422 and `Required value`, unless the stored object lacks it too.
   *
   * Member paths by sub-resource, the main resource under ``. In a path, `*` is every item of a list, and `?` marks a
   * conditional requirement; see `missingMembers`.
   *
   * @see storage specification, 2.7 and 2.8
   */
  readonly requiredMembers?: Readonly<Record<string, readonly (readonly string[])[]>>
  /**
   * Members whose empty lists and maps the rules of the kind distinguish from absent ones, also anywhere below them. Defaults and rules
   * see such empties in what a client sent; neither owners, webhooks, policies nor storage do. Member paths without indices and keys.
   *
   * @see docs/internals/decisions/0004-stored-form-of-empty-lists.md
   */
  readonly distinctEmpties?: readonly (readonly string[])[]
  /** PUT on a missing name creates the object. Default false. */
  readonly allowCreateOnUpdate?: boolean
  /** PUT without a resourceVersion is allowed. Default true. */
  readonly allowUnconditionalUpdate?: boolean
  /** Field selectors besides `metadata.name` and `metadata.namespace`: path -> value. Absent: none. */
  readonly selectableFields?: Readonly<Record<string, (object: DeepReadonly<T>) => string>>
  /**
   * Propagation policy of a deletion that names none. `Unsupported`: objects of the kind have no dependents, so a deletion drops the
   * finalizers of garbage collection whatever it asks for. Default `Background`.
   */
  readonly defaultPropagation?: 'Background' | 'Orphan' | 'Unsupported'
  /** Text of the Warning header of a deletion that relies on `defaultPropagation`. */
  readonly defaultPropagationWarning?: string
  /**
   * For kinds that mark objects as being deleted themselves: changes the copy to store, whose `deletionTimestamp` is set. Such
   * deletions have no grace period and keep the generation; removing the last finalizer completes them.
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
  readonly deleteResponse?: 'Status' | 'Object' | 'StatusAlways'
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
  /**
   * Grace period of a deletion in seconds; absent or 0: the object is deleted at once. `requested` is the period of the
   * request, if any.
   */
  gracePeriodSeconds?(object: DeepReadonly<T>, requested: number | undefined): number
  /** Columns of Tables. Those of the built-in kinds are loaded by the first Table. Absent: `defaultPrinter`. */
  readonly printer?: Printer<T> | PrinterLoader<T>
  /**
   * Annotations that hold fields which a version lacks. They are shown with whole objects and left out where only the metadata is
   * shown. Absent: none.
   */
  fieldAnnotations?(profile: NamingProfile): readonly string[]
  readonly subresources?: Readonly<Record<string, SubresourceStrategy<T>>>
  /** Where `/scale` finds its values, as member paths from the root. */
  readonly scale?: {
    readonly specReplicas: readonly string[]
    /**
     * `specReplicas` by apiVersion, null for versions without `/scale`, for kinds whose versions differ. Field owners in other
     * versions are dropped.
     */
    readonly specReplicasByVersion?: Readonly<Record<string, readonly string[] | null>>
    readonly statusReplicas: readonly string[]
    /** The label selector in string form. */
    selector(object: DeepReadonly<T>): string
    /** Shows the Scale in a Table. Default: the printer of the built-in kind. */
    readonly printer?: Printer
  }
  /**
   * Fields that a write of the main resource (key ``) or of a sub-resource never changes, and that it therefore does not own.
   * Member paths such as `status`, per API version of the request.
   */
  readonly resetFields?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** Entries of {@link resetFields} that a release replaced. */
  readonly laterResetFields?: { readonly since: string; readonly fields: NonNullable<Strategy['resetFields']> }
  /** An object as responses show it, for kinds that hide stored members; the same one where nothing is hidden. Absent: as stored. */
  decorate?(stored: DeepReadonly<T>): DeepReadonly<T>
}

/** Assigns values that no two objects of a kind may share. */
export interface Allocator<T extends ApiObject = ApiObject> {
  /** Writes to the kind run one after another: the values are those that no stored object holds. */
  readonly isOrdered: boolean
  /**
   * Fills in the values that a prepared object lacks, and checks those it asks for. Mutates `object`; `old` is the stored object of an
   * update.
   */
  allocate(object: T, old: DeepReadonly<T> | undefined, context: StrategyContext): Promise<Grant>
  /** Called when an object was removed. Absent: nothing has to be released. */
  release?(object: DeepReadonly<T>): Promise<void>
  /** Corrects the record by what objects hold. Absent: nothing is recorded. @returns what users should know */
  repair?(): Promise<readonly AllocationProblem[]>
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
  readonly features: Features
  /** Where several servers record what they assign; absent where one process uses the store. */
  readonly shared?: SharedAllocations | undefined
  /**
   * Follows all objects of a resource: `sink` receives the present ones before the promise resolves.
   *
   * @returns a function that brings `sink` up to date with the newest state; `undefined` when the resource is not served.
   */
  follow(resource: GroupResource, sink: AllocationSink): Promise<(() => Promise<void>) | undefined>
}

/** Lossless conversion between two versions of a kind, through the storage version. */
export interface Conversion {
  readonly kind: string
  readonly from: { readonly group: string; readonly version: string }
  readonly to: { readonly group: string; readonly version: string }
  /** Returns a new object of `to`; never changes its argument. */
  convert(object: DeepReadonly<ApiObject>): ApiObject
}

/** A resource with everything that the registry needs to serve it: one for each served plural of each group version. */
export interface ResourceDefinition {
  readonly group: string
  readonly version: string
  readonly resource: ResourceInfo
  readonly kind: KindInfo
  readonly subresources: readonly ResourceInfo[]
  readonly strategy: Strategy
  /** Rules that the release of an emulated definition enforces besides those of the strategy. Absent: none. */
  readonly markerRules?: MarkerRules
  /**
   * Where objects are stored: group and plural of the storage version. `prefix` is the path of the collection below the root
   * of the store (`services/specs`); absent: `group/resource`.
   */
  readonly storage: {
    readonly group: string
    readonly version: string
    readonly resource: string
    readonly prefix?: string
    /** The storage version that discovery announces, if it differs: that of an emulated release. */
    readonly announced?: string
  }
  /** The definition of the storage version, where that version is not served: stored objects are read and written through it. */
  readonly storedAs?: ResourceDefinition
  /** Conversion to and from the storage version; absent if this is the storage version. */
  readonly toStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
  readonly fromStorage?: (object: DeepReadonly<ApiObject>) => ApiObject
  /** For large objects. `fromStorage` returns the result for a frozen object again without computing it. */
  readonly paced?: { readonly fromStorage: (object: DeepReadonly<ApiObject>) => Work<ApiObject> }
  /**
   * Asynchronous conversion by a webhook: requests work in this version instead of the storage version. Replaces `toStorage`
   * and `fromStorage`.
   */
  readonly conversion?: ObjectConversion
  /** The emulated release that the definition belongs to, as `1.24`. Absent: the newest one. */
  readonly release?: string
  /** Defined by the program that runs the server, not by an object in the store. */
  readonly definedInCode?: boolean
  /** For custom resources: what OpenAPI documents need. They have no protobuf form. */
  readonly custom?: CustomForm
  /** Text of the Warning header of every response; absent: derived from the lifecycle of the kind. */
  readonly deprecationWarning?: string
}

/** The OpenAPI form of a custom resource. */
export interface CustomForm {
  /** `openAPIV3Schema` of the version; absent: objects of any content. */
  readonly schema?: JsonObject
  /** The kinds of all versions of its definition, served or not, by apiVersion. Absent: those that are served. */
  readonly kinds?: ReadonlyMap<string, KindInfo>
  readonly preserveUnknownFields?: boolean
  /** Identifies the served definition; a different one ends watches. Absent: it never changes. */
  readonly edition?: object
  /** The definition is being deleted: instances are removed and none can be created. */
  readonly terminating?: boolean
  /** JSON paths. */
  readonly selectableFields?: readonly string[]
}
