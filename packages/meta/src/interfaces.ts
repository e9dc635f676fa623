/**
 * What every API object has, and the small values every package passes around.
 *
 * Nothing here knows of HTTP, storage or a particular kind.
 */

/** Any value that JSON can hold; 64-bit integers outside the safe range of a number are `bigint`. */
export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [key: string]: JsonValue }

/** A JSON object whose members are not known statically. */
export type JsonObject = { [key: string]: JsonValue }

/** The same shape with every level readonly: what validation, watchers and caches hand out. */
export type DeepReadonly<T> = T extends string
  ? T // open enumerations such as `'A' | (string & {})` count as strings
  : T extends (infer E)[]
    ? readonly DeepReadonly<E>[]
    : T extends object
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T

export interface GroupVersion {
  /** Empty for the core group. */
  readonly group: string
  readonly version: string
}

export interface GroupVersionKind extends GroupVersion {
  readonly kind: string
}

export interface GroupVersionResource extends GroupVersion {
  readonly resource: string
}

export interface GroupResource {
  readonly group: string
  readonly resource: string
}

export interface GroupKind {
  readonly group: string
  readonly kind: string
}

/** @see API protocol specification, 2.2 */
export interface OwnerReference {
  apiVersion: string
  kind: string
  name: string
  uid: string
  controller?: boolean
  blockOwnerDeletion?: boolean
}

/** One owner of fields; @see API protocol specification, 2.2 and 4.7. */
export interface ManagedFieldsEntry {
  manager?: string
  operation?: string
  apiVersion?: string
  /** RFC 3339, whole seconds, UTC. */
  time?: string
  fieldsType?: string
  fieldsV1?: JsonObject
  subresource?: string
}

/** @see API protocol specification, 2.2 */
export interface ObjectMeta {
  name?: string
  generateName?: string
  namespace?: string
  selfLink?: string
  uid?: string
  resourceVersion?: string
  generation?: number
  /** RFC 3339, whole seconds, UTC; `null` while unset, as the wire prints it. */
  creationTimestamp?: string | null
  deletionTimestamp?: string
  deletionGracePeriodSeconds?: number
  labels?: Record<string, string>
  annotations?: Record<string, string>
  ownerReferences?: OwnerReference[]
  finalizers?: string[]
  managedFields?: ManagedFieldsEntry[]
}

/** @see API protocol specification, 2.3 */
export interface ListMeta {
  selfLink?: string
  resourceVersion?: string
  continue?: string
  remainingItemCount?: number
}

/** An object of any kind, as a plain JSON value with its type written on it. */
export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: ObjectMeta
  [member: string]: unknown
}

declare const objectType: unique symbol

/** Tells the type checker what objects a description is about; there is nothing at run time. */
export interface Typed<T> {
  readonly [objectType]?: T
}

declare const draftType: unique symbol

/** Tells the type checker how objects may be written where defaults complete them; there is nothing at run time. */
export interface Completed<W> {
  readonly [draftType]?: W
}

/** A caller after authentication. */
export interface UserInfo {
  readonly username: string
  readonly uid?: string
  readonly groups: readonly string[]
  readonly extra?: Readonly<Record<string, readonly string[]>>
}

/** Time as an argument, so that a test can own it. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Calls `fn` once after `ms` milliseconds; the returned function cancels. */
  setTimeout(fn: () => void, ms: number): () => void
}

/** Randomness as an argument, so that a test can own it. */
export interface Random {
  /** A version 4 UUID in lower case. */
  uuid(): string
  /** `length` characters drawn from the alphabet of generated names (`bcdfghjklmnpqrstvwxz2456789`). */
  nameSuffix(length: number): string
  /** `size` unpredictable bytes. */
  bytes(size: number): Uint8Array
}

/**
 * Every name that a distribution may change. The default profile is the stock one; nothing else in the
 * project spells these names.
 */
export interface NamingProfile {
  /** `{api_domain}` of the specification: `k8s.io`. */
  readonly apiDomain: string
  /** `{vendor}`: `kubernetes`, as in `application/vnd.kubernetes.protobuf`. */
  readonly vendor: string
  /** `<domain>`: `kubernetes.io`, prefix of signers, annotations and labels. */
  readonly domain: string
  /** `{system_namespace}`: `kube-system`. */
  readonly systemNamespace: string
  /** `{public_namespace}`: `kube-public`. */
  readonly publicNamespace: string
  /** Namespace of node leases: `kube-node-lease`. */
  readonly nodeLeaseNamespace: string
}

/** What varies by release or feature gate is asked of this one object. */
export interface Features {
  readonly release: {
    /** `1.33` */
    readonly version: string
    atLeast(version: string): boolean
  }
  /** What was said of a gate, or else its default: off, unless the asker knows better. */
  enabled(gate: string, byDefault?: boolean): boolean
}

/**
 * One thing wrong with one field.
 *
 * `message` is the whole text as the stock server prints it after the field path
 * (`Invalid value: "x": must be ...`); `reason` is the cause's reason.
 */
export interface FieldError {
  readonly field: string
  readonly reason:
    | 'FieldValueNotFound'
    | 'FieldValueRequired'
    | 'FieldValueDuplicate'
    | 'FieldValueInvalid'
    | 'FieldValueNotSupported'
    | 'FieldValueForbidden'
    | 'FieldValueTooLong'
    | 'FieldValueTooMany'
    | 'InternalError'
    | 'FieldValueTypeInvalid'
  readonly message: string
}
