import type { AdmissionChain, AdmissionMetrics, DecisionSink } from '@krmkit/admission'
import type { RequestSpan } from '@krmkit/base/tracing'
import type { FrozenObject } from '@krmkit/fieldmanager'
import type { ResourceDefinition, ServiceNetwork, StrategyContext } from '@krmkit/kinds'
import type {
  ApiError,
  ApiObject,
  Clock,
  Features,
  FieldError,
  GroupVersionKind,
  NamingProfile,
  Random,
  UserInfo,
} from '@krmkit/meta'
import type { FieldSelector, LabelSelector } from '@krmkit/meta/selectors'
import type { DecodedSize, TypeSource } from '@krmkit/schema'
import type { TypeMeta } from '@krmkit/schema/decode'
import type { Entry, Storage } from '@krmkit/storage'

export type { FrozenObject } from '@krmkit/fieldmanager'

/**
 * The API verbs without HTTP: everything that happens to objects between a decoded request and storage.
 *
 * A write goes through conversion to the storage version, defaulting, `prepare` of the strategy, mutating admission, field ownership,
 * validation, validating admission, and storage. When another writer was first, the write runs again from the newest state. Each object is
 * encoded once.
 */

/** Dependencies of a registry. */
export interface RegistryEnvironment {
  readonly storage: Storage
  readonly types: TypeSource
  readonly admission: AdmissionChain
  /** Called for each webhook request. */
  readonly metrics?: AdmissionMetrics | undefined
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** Ranges of cluster addresses and node ports. Default: `10.0.0.0/24`, ports 30000 to 32767. */
  readonly serviceNetwork?: ServiceNetwork | undefined
  /** Whether pods may have privileged containers. Default false. */
  readonly allowPrivileged?: boolean | undefined
  /** Verifies the signature of a CertificateSigningRequest when it is created. Default: only signers verify it. */
  readonly requestSignatureError?: StrategyContext['requestSignatureError']
  /** Limit of a stored object in bytes; larger ones are refused with 413. Default: 1.5 MiB, the limit of etcd. */
  readonly maxObjectBytes?: number | undefined
  /** Refuses writes that would escalate the rights of the user: roles and bindings. */
  readonly guard?: WriteGuard | undefined
  /** Called for errors that do not fail a request. Default: such errors are dropped. */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** Checks objects after mutating admission and before validation. */
export interface WriteGuard {
  /** Whether writes of a resource are checked. Must always return the same result for a definition. */
  covers(definition: ResourceDefinition): boolean
  /** Refuses by throwing an ApiError. */
  check(write: GuardedWrite): Promise<void>
}

export interface GuardedWrite {
  readonly definition: ResourceDefinition
  readonly user: UserInfo
  readonly namespace: string
  /** The name in the request's path: empty for POST. */
  readonly name: string
  /** In the storage version. */
  readonly object: FrozenObject
  /** Absent for a creation. */
  readonly oldObject?: FrozenObject
}

/** Properties of one write request. */
export interface WriteContext {
  readonly user: UserInfo
  /** Whether to run every step except storing the object. */
  readonly dryRun: boolean
  /** Owner of the fields this request changes. */
  readonly fieldManager: string
  readonly signal: AbortSignal
  /** Milliseconds since the epoch after which the response is no longer awaited. */
  readonly deadline?: number | undefined
  /** Options of the request as members of `CreateOptions`, `UpdateOptions`, `PatchOptions` or `DeleteOptions`. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** The request body as sent, where it contains numbers that Go decodes as floats. @see StrategyContext.sent */
  readonly sent?: (() => unknown) | undefined
  /** apiVersion and kind of the request body. @see StrategyContext.statedType */
  readonly statedType?: TypeMeta | undefined
  /** Adds a Warning header to the response. */
  warn(text: string): void
  /** Adds an annotation to the audit event; absent when the request is not audited. */
  readonly annotate?: ((key: string, value: string, level?: 'Metadata' | 'Request') => void) | undefined
  /** Called with each decision of an admission plugin; absent when decisions are not recorded. */
  readonly decisions?: DecisionSink | undefined
  /** The span of the request; absent when the request is not traced. */
  readonly span?: RequestSpan | undefined
  /** Called with each step of a write; absent when steps are not traced. */
  readonly trace?: ((step: WriteStep) => void) | undefined
}

/**
 * A step of a write, in the storage version.
 *
 *     requested --mutating admission, strategy--> written
 *         ^------ another writer was first ------/
 *
 * `requested` comes before mutating admission, with a copy of the requested object: the body, patch or applied configuration merged into
 * the stored object, with defaults and without managedFields. Deletions have no `requested` step. `written` comes after the write: `after`
 * is absent when the object was removed, and identical to `before` when the write changed nothing.
 */
export type WriteStep =
  | {
      readonly step: 'requested'
      readonly manager: string
      readonly object: FrozenObject
    }
  | { readonly step: 'written'; readonly before: FrozenObject | undefined; readonly after: FrozenObject | undefined }

/** The result of a write. */
export interface Stored {
  /** In the storage version, or in the version of the request where a webhook converts between versions. */
  readonly object: FrozenObject
  /** Absent in a dry run. */
  readonly entry?: Entry
}

export interface GetRequest {
  readonly namespace: string
  readonly name: string
  /** Waits until the store has reached this version. Absent, empty and `0`: no wait. */
  readonly resourceVersion?: string | undefined
}

/** @see API protocol specification, 4.2 */
export interface ListRequest {
  /** Empty for all namespaces and for cluster-scoped resources. */
  readonly namespace: string
  readonly labelSelector?: LabelSelector | undefined
  readonly fieldSelector?: FieldSelector | undefined
  readonly limit?: number | undefined
  readonly continueToken?: string | undefined
  readonly resourceVersion?: string | undefined
  readonly resourceVersionMatch?: string | undefined
}

export interface ListResult {
  readonly entries: readonly Entry[]
  readonly resourceVersion: string
  /** Empty at the end of the list. */
  readonly continueToken: string
  /** Number of objects after the last entry. Absent with selectors, and at the end of the list. */
  readonly remaining?: number
}

/** @see API protocol specification, 2.4 and 4.2 */
export interface WatchRequest {
  readonly namespace: string
  /** Watches a single object; empty: the collection. */
  readonly name: string
  readonly labelSelector?: LabelSelector | undefined
  readonly fieldSelector?: FieldSelector | undefined
  /** The watch starts after this version. Absent, empty or `0`: it starts with the existing objects, followed by the changes. */
  readonly resourceVersion?: string | undefined
  /** Whether the watch starts with the existing objects, whatever `resourceVersion` is. Absent: `resourceVersion` decides. */
  readonly sendInitialEvents?: boolean | undefined
}

/** Options of a DELETE; @see API protocol specification, 4.1. */
export interface DeleteRequestOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

export interface DeleteRequest {
  readonly namespace: string
  readonly name: string
  readonly options: DeleteRequestOptions
  /** Whether the deletion is part of a deletecollection, so that admission sees an empty name. */
  readonly collective?: boolean
  /** Whether to skip admission, because the operation that this deletion belongs to has already passed it. */
  readonly skipAdmission?: boolean
}

/** A deletion of every object that the list request selects. */
export interface DeleteCollectionRequest extends ListRequest {
  readonly options: DeleteRequestOptions
}

export interface DeleteResult {
  /** The last state of the object, in the storage version. */
  readonly object: FrozenObject
  readonly entry?: Entry
  /** False while finalizers or a grace period keep the object. */
  readonly removed: boolean
}

/** An object in the version of the request, decoded but not defaulted; the callee may mutate it. */
export interface DecodedObject {
  readonly object: ApiObject
  /** Size that decoding has counted so far; defaulting adds to it. Absent: the size is checked only when the object is stored. */
  readonly size?: DecodedSize | undefined
  /** Errors for required members that are missing in the body; validation reports these errors first. */
  readonly missing?: readonly FieldError[] | undefined
}

export interface CreateRequest extends DecodedObject {
  readonly namespace: string
}

/** Members that every change of one object shares. */
interface Target {
  readonly namespace: string
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
  /** Whether to create a missing object, as by a PUT of kinds that allow it, and by an apply. */
  readonly createMissing?: boolean
  /** Called before a missing object is created, because the user needs the `create` verb as well. Refuses by throwing. */
  readonly mayCreate?: () => Promise<void>
  /** Fails with a conflict when the stored object has another uid. */
  readonly uid?: string
}

/** A PUT or PATCH. */
export interface UpdateRequest extends Target {
  /**
   * Computes the new object from the current one, which is in the version of the request and `undefined` when nothing is stored. Runs again
   * when another writer was first. The store applies defaults to the result and converts it to the storage version.
   */
  readonly change: (current: FrozenObject | undefined) => DecodedObject | Promise<DecodedObject>
}

/** A server-side apply. @see API protocol specification, 4.7 */
export interface ApplyRequest extends Target {
  /** Whether to take over fields of other managers instead of failing with a conflict. */
  readonly force: boolean
  /** Decodes the applied configuration. Runs again when another writer was first. @param exists whether an object is stored */
  readonly configuration: (exists: boolean) => AppliedConfiguration | Promise<AppliedConfiguration>
}

export interface AppliedConfiguration {
  /** The configuration as sent, without unknown fields. */
  readonly sent: FrozenObject
  /**
   * The decoded configuration; the callee may mutate it. For a configuration that cannot be decoded: the error that refuses it. Conflicts
   * are reported before this error.
   */
  readonly object: ApiObject | ApiError
  /** Whether the configuration is refused only because it has no name. The uid is checked before the name. */
  readonly unnamed?: boolean
  /** Warnings to send after a successful merge. Applies that fail with conflicts or mistyped values send none of them. */
  readonly warnings?: readonly string[]
}

/** A change by the server itself, in the storage version. */
export interface StoredUpdate extends Target {
  /**
   * Returns the new object, which the store may mutate, or `current` itself when nothing changes. `current` is frozen. Runs again when
   * another writer was first.
   */
  readonly change: (current: FrozenObject | undefined) => ApiObject | FrozenObject | Promise<ApiObject | FrozenObject>
  /** Errors for required members that the last result of `change` lacks; validation reports these errors first. */
  readonly missing?: () => readonly FieldError[]
  /** Whether `change` sets managedFields itself. Default false: the store tracks ownership. */
  readonly managesFields?: boolean
  /** Whether to skip admission, because the operation that this change belongs to has already passed it. */
  readonly skipAdmission?: boolean
  /** Admission sees this view of the object: the kind of a subresource such as Scale. */
  readonly view?: AdmissionView
}

/** A projection of an object onto the kind of a subresource. */
export interface AdmissionView {
  readonly kind: GroupVersionKind
  show(object: FrozenObject): ApiObject
  /** The objects that mutating admission receives: the requested view and the old view, both with managedFields. Called after `change`. */
  requested(): { readonly object: ApiObject; readonly oldObject: FrozenObject }
  /** Returns the object with the changes that admission made to the view. */
  merge(object: ApiObject, view: ApiObject): ApiObject
}

export interface UpdateResult extends Stored {
  readonly created: boolean
}
