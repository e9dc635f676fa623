import type { RequestSpan } from '@krmkit/base/tracing'
import type { TypeRef } from '@krmkit/fieldmanager/typed'
import type {
  ApiObject,
  DeepReadonly,
  GroupResource,
  GroupVersionKind,
  GroupVersionResource,
  JsonValue,
  UserInfo,
} from '@krmkit/meta'
import type { AdmissionMetrics } from './metrics.ts'

/** The kind of a request. A plugin decides from this alone whether it handles the request. */
export interface AdmissionTarget {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT'
  readonly kind: GroupVersionKind
  readonly resource: GroupVersionResource
  /** Empty for the resource itself. */
  readonly subresource: string
}

/** The attributes of a request that admission sees; @see API protocol specification, 2.8. */
export interface AdmissionAttributes extends AdmissionTarget {
  /** Empty when the server generates the name. */
  readonly name: string
  readonly namespace: string
  readonly user: UserInfo
  readonly dryRun: boolean
  /** The stored object; absent for CREATE and CONNECT. */
  readonly oldObject?: DeepReadonly<ApiObject>
  /** The options of the verb, as the client sent them. */
  readonly options?: DeepReadonly<Record<string, unknown>>
}

/** A served resource and its scope. */
export interface ServedKind extends GroupVersionResource {
  readonly namespaced: boolean
}

/** Reads other objects from the newest visible state. Objects are frozen and shared. */
export interface ObjectReader {
  get(resource: GroupResource, namespace: string, name: string): DeepReadonly<ApiObject> | undefined
  /** Objects sorted by name. Collections that plugins read for every request are cached. */
  list(resource: GroupResource, namespace?: string): Promise<readonly DeepReadonly<ApiObject>[]>
  /** The objects of `list` from the cache; undefined when the collection is not cached, or not yet. */
  listNow?(resource: GroupResource, namespace?: string): readonly DeepReadonly<ApiObject>[] | undefined
  /** Served resources of this kind; empty when the kind is not served. Absent when the reader does not know kinds. */
  resourcesOf?(kind: GroupVersionKind): readonly ServedKind[]
}

/** Writes other objects on behalf of plugins, through the whole chain. */
export interface ObjectWriter {
  /** @throws ApiError */
  create(resource: GroupResource, namespace: string, object: ApiObject): Promise<DeepReadonly<ApiObject>>
  /**
   * Stores the result of `change`, retrying when another writer wins. An error thrown by `change` ends the update.
   *
   * @throws ApiError
   */
  update(
    target: GroupResource & { readonly namespace: string; readonly name: string; readonly subresource: string },
    change: (current: DeepReadonly<ApiObject>) => ApiObject,
  ): Promise<DeepReadonly<ApiObject>>
}

/** One served version of a resource and its kind there; the kind of `deployments/scale` is `Scale`. */
export interface ObjectVersion {
  readonly resource: GroupVersionResource
  readonly kind: GroupVersionKind
}

/** An object that was converted from another version. */
export interface ConvertedObject {
  /** In the version that plugins run on; owned by the caller. */
  readonly object: ApiObject
  /** The same object in the version that it was converted from. */
  readonly versioned: DeepReadonly<ApiObject>
}

/**
 * Converts objects between served versions. Plugins run on the storage version, or on the request's version for resources that a
 * conversion webhook converts; webhooks and policies may match another version. Conversion by a webhook is asynchronous and may
 * fail with an ApiError.
 */
export interface VersionConverter {
  /** Identifies the set of served resources: another value means that the set has changed. */
  readonly served: unknown
  /** All served versions of a resource, the given one included. */
  equivalents(resource: GroupVersionResource, subresource: string): readonly ObjectVersion[]
  /** The type of a version for merges of apply configurations; undefined when it is not known. */
  typeOf?(version: ObjectVersion): TypeRef | undefined
  /** Whether a kind is one of the built-in ones, or a list of one. Absent: every kind counts as known. */
  knowsKind?(kind: GroupVersionKind): boolean
  /** Whether objects of a version are custom resources. Absent: none are. */
  isCustom?(version: ObjectVersion): boolean
  /** Messages about the members of a value that the type of a version does not have. */
  unknownFields?(value: JsonValue, version: ObjectVersion): readonly string[]
  /** Converts to a version, with members normalized. Does not change its argument. */
  toVersion(object: DeepReadonly<ApiObject>, version: ObjectVersion): DeepReadonly<ApiObject> | Promise<DeepReadonly<ApiObject>>
  /**
   * Converts a value of `version` to the version that plugins run on for a request of version `request`, with defaults applied.
   *
   * @throws Error when the value does not decode.
   */
  fromVersion(value: JsonValue, version: ObjectVersion, request: ObjectVersion): ConvertedObject | Promise<ConvertedObject>
}

/** Cancellation and deadline of a request. */
export interface RequestBounds {
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal
  /** Milliseconds since the epoch at which the request times out. */
  readonly deadline?: number | undefined
  /** The span of the request, which webhooks continue; absent where it is not traced. */
  readonly span?: RequestSpan | undefined
}

/** User name of writes that plugins make through `ObjectWriter`. */
export const pluginUser = 'system:apiserver'

/**
 * Reinvocation of mutating plugins within one request: they run a second time when one of them asks for it, as webhooks do after
 * changing what earlier plugins have seen.
 */
export interface ReinvocationContext {
  /** 0 in the first round, 1 when plugins are reinvoked. */
  readonly round: number
  /** Requests the second round; has no effect in it. */
  requestReinvocation(): void
  /** Values that plugins keep between the rounds, by plugin name. */
  readonly values: Map<string, unknown>
}

export interface AdmissionContext {
  readonly reader: ObjectReader
  /** Absent offline: plugins skip their writes. */
  readonly writer?: ObjectWriter
  /** Adds a Warning header to the response. */
  warn(text: string): void
  /**
   * Adds an audit annotation to events of `level` (default `Metadata`) or above. The first value of a key is kept.
   * Absent when the request is not audited.
   */
  annotate?(key: string, value: string, level?: 'Metadata' | 'Request'): void
  /** Absent offline: resources have one version. */
  readonly versionConverter?: VersionConverter
  /** Absent when metrics are off. */
  readonly metrics?: AdmissionMetrics
  /** Absent offline: requests have no deadline. */
  readonly bounds?: RequestBounds
  /** Receives the decision of each plugin. Absent: decisions are not computed. */
  readonly trace?: DecisionSink
  /** Records the plugin's reason; set by the chain when `trace` is set. */
  explain?(reason: string): void
  /** Set by the chain during mutating admission. */
  readonly reinvocation?: ReinvocationContext | undefined
}

export type DecisionSink = (decision: AdmissionDecision) => void

/** What one plugin did to one request. Recorded for plugins that changed, refused, warned or annotated. */
export interface AdmissionDecision {
  readonly plugin: string
  readonly phase: 'mutating' | 'validating'
  readonly outcome: 'allowed' | 'changed' | 'refused'
  /** Empty unless the plugin changed the object. */
  readonly changes: readonly ObjectChange[]
  /** As given to `AdmissionContext.explain`. */
  readonly reasons: readonly string[]
  readonly warnings: readonly string[]
  /** Audit annotations. */
  readonly annotations: Readonly<Record<string, string>>
  /** The message of the refusal. */
  readonly message?: string
}

/** One difference between two states of an object. */
export interface ObjectChange {
  readonly op: 'add' | 'remove' | 'replace'
  /** JSON pointer, RFC 6901. */
  readonly path: string
  readonly before?: unknown
  readonly after?: unknown
}

/**
 * Something that validating admission holds for a request until its write has ended, such as a quota charge. Exactly one of the two
 * methods is called, once.
 *
 *     reserved --object stored--> commit
 *              \--write failed, or another plugin refused--> rollback
 */
export interface Reservation {
  commit(): void | Promise<void>
  rollback(): void | Promise<void>
}

/**
 * One admission plugin. Mutating plugins implement `admit`; validating plugins implement `validate` or `check`. A plugin refuses a
 * request by throwing an ApiError.
 *
 * @example
 * ```ts
 * import type { AdmissionPlugin } from '@krmkit/admission'
 *
 * const team: AdmissionPlugin = {
 *   name: 'Team',
 *   handles: ({ operation, resource }) => operation === 'CREATE' && resource.resource === 'configmaps',
 *   admit: ({ metadata }) => {
 *     metadata.labels = { team: 'none', ...metadata.labels }
 *   },
 * }
 * ```
 */
export interface AdmissionPlugin {
  readonly name: string
  /** Whether the plugin handles such requests. The result is cached by target, so it must depend on the target alone. */
  handles(target: AdmissionTarget): boolean
  /** Validates before this plugin mutates. `object` is absent for DELETE. */
  check?(attributes: AdmissionAttributes, context: AdmissionContext, object?: DeepReadonly<ApiObject>): void | Promise<void>
  /** Changes the draft in place, or returns another object. Must be repeatable. Not called for DELETE, which has no new object. */
  admit?(draft: ApiObject, attributes: AdmissionAttributes, context: AdmissionContext): MutationResult | Promise<MutationResult>
  /**
   * What `admit` receives. `draft`, the default: an immer draft. `members`: a shallow copy whose members, and those of `metadata`,
   * may be replaced; nested values are shared with frozen objects and must not be changed in place. Several times faster than a
   * draft. `whole`: the object itself, which must not be changed; `admit` returns another object instead.
   */
  readonly changes?: 'draft' | 'members' | 'whole'
  /** Validates the object as it will be stored; the object must not be changed. */
  validate?(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): ValidationResult | Promise<ValidationResult>
}

// biome-ignore lint/suspicious/noConfusingVoidType: plugins are functions that mostly return nothing
export type MutationResult = void | ApiObject
// biome-ignore lint/suspicious/noConfusingVoidType: plugins are functions that mostly return nothing
export type ValidationResult = void | Reservation
