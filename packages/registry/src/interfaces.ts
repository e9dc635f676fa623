import type { AdmissionChain, DecisionSink, WebhookMetrics } from '@krmkit/admission'
import type { ResourceDefinition, ServiceNetwork, SubresourceStrategy } from '@krmkit/kinds'
import type {
  ApiObject,
  Clock,
  DeepReadonly,
  Features,
  FieldSelector,
  GroupVersionKind,
  LabelSelector,
  NamingProfile,
  Random,
  UserInfo,
} from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import type { Entry, Revision, Storage } from '@krmkit/storage'

/**
 * The verbs of an API, without HTTP: what happens to objects between a decoded request and storage.
 *
 * The way of a write: conversion to the storage version, defaulting, `prepare` of the kind's policy, mutating admission,
 * ownership of fields, validation, validating admission, storage (again from the live object when another writer was
 * first), encoded once.
 */

/** What a registry is made of. */
export interface RegistryEnvironment {
  readonly storage: Storage
  readonly types: TypeSource
  readonly admission: AdmissionChain
  /** Hears of calls to webhooks. Default: nobody does. */
  readonly metrics?: WebhookMetrics | undefined
  readonly clock: Clock
  readonly random: Random
  readonly profile: NamingProfile
  readonly features: Features
  /** Addresses and ports of services. Default: `10.0.0.0/24`, ports 30000 to 32767. */
  readonly serviceNetwork?: ServiceNetwork | undefined
  /** Whether containers may be privileged. Default false. */
  readonly allowPrivileged?: boolean | undefined
  /** Bytes that a stored object may have; larger ones are refused with 413. Default: 1.5 MiB, what etcd takes. */
  readonly maxObjectBytes?: number | undefined
  /** Refuses writes of some resources by who writes what: roles, which must not give more than their writer has. */
  readonly guard?: WriteGuard | undefined
}

/** Sees objects as admission has left them, before they are validated. */
export interface WriteGuard {
  /** Whether writes of a resource are checked. Must always answer the same. */
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
  /** Absent for what is created. */
  readonly oldObject?: FrozenObject
}

/** What travels with one request. */
export interface WriteContext {
  readonly user: UserInfo
  /** Everything runs but the write. */
  readonly dryRun: boolean
  /** Owner of the fields this request changes. */
  readonly fieldManager: string
  readonly signal: AbortSignal
  /** Milliseconds since the epoch after which nobody waits for the answer. */
  readonly deadline?: number | undefined
  /** What the client asked for beside the object, as members of `CreateOptions` and the like. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
  /** Adds a Warning header to the answer. */
  warn(text: string): void
  /** Adds to the audit trail; absent when nobody keeps one. */
  readonly annotate?: ((key: string, value: string, level?: 'Metadata' | 'Request') => void) | undefined
  /** Hears what admission plugins decided; absent when nobody listens. */
  readonly decisions?: DecisionSink | undefined
}

export type FrozenObject = DeepReadonly<ApiObject>

/** An object as it is stored (or, in a dry run, would be). */
export interface Stored {
  /** In the storage version. */
  readonly object: FrozenObject
  /** Absent when nothing was stored: in a dry run. */
  readonly entry?: Entry
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
  readonly revision: Revision
  /** Empty at the end of the list. */
  readonly continueToken: string
  /** Absent with selectors, and when nothing remains. */
  readonly remaining?: number
}

/** Options of a DELETE; @see API protocol specification, 4.1. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number
  readonly propagationPolicy?: string
  readonly orphanDependents?: boolean
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string }
  readonly dryRun?: readonly string[]
}

export interface DeleteRequest {
  readonly namespace: string
  readonly name: string
  readonly options: DeleteOptions
  /** One of a whole collection that is deleted: admission is told no name. */
  readonly collective?: boolean
  /** Admission was asked already, about the operation that this deletion is part of. */
  readonly admitted?: boolean
}

export interface DeleteResult {
  /** The last state, in the storage version. */
  readonly object: FrozenObject
  readonly entry?: Entry
  /** False while the object lives on: finalizers or a grace period hold it. */
  readonly removed: boolean
}

/**
 * A change of one object. `current` is frozen; the returned object is the caller's own, or `current` itself when nothing changes.
 * Runs again when another writer was first.
 */
export type Change = (current: FrozenObject | undefined) => ApiObject | FrozenObject | Promise<ApiObject | FrozenObject>

export interface UpdateRequest {
  readonly namespace: string
  readonly name: string
  /** Empty for the object itself. */
  readonly subresource: string
  readonly change: Change
  /** Makes a missing object (PUT of kinds that allow it, and apply). */
  readonly createMissing?: boolean
  /** Asked before a missing object is made: making is another right than changing. Refuses by throwing. */
  readonly mayCreate?: () => Promise<void>
  /** Fails when the object is another one. */
  readonly uid?: string
  /** `change` keeps the owners of fields itself. */
  readonly owned?: boolean
  /** What the request may change, where that is neither the kind's policy nor that of the sub-resource. */
  readonly rules?: SubresourceStrategy
  /** Admission was asked already, about the operation that this change is part of. */
  readonly admitted?: boolean
  /** What admission is shown instead of the object: the kind of a sub-resource that is a view of it. */
  readonly shownAs?: ShownAs
}

/** A view of an object that admission is asked about. */
export interface ShownAs {
  readonly kind: GroupVersionKind
  show(object: FrozenObject): ApiObject
  /** The object with what admission made of the view. */
  take(object: ApiObject, shown: ApiObject): ApiObject
}

export interface UpdateResult extends Stored {
  readonly created: boolean
}
