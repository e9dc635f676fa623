import type { ApiObject, Completed, DeepReadonly, FieldError, Typed } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import type { ResourceDefinition, StrategyContext } from '../interfaces.ts'
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../types/apiextensions-v1.generated.ts'
import type { z } from './zod.ts'

/** Resources defined in code by zod schemas: the options of `defineResource` and its result. */

/** The members of objects besides `apiVersion`, `kind` and `metadata`. */
export type MemberSchema = z.ZodObject

/** Objects as stored: with defaults. */
export type ObjectOf<S extends MemberSchema> = ApiObject & z.output<S>

/** Objects as written: members with a default are optional. */
export type DraftOf<S extends MemberSchema> = ApiObject & z.input<S>

/** One version of a resource. */
export interface VersionOptions<S extends MemberSchema = MemberSchema> {
  /** `z.object({ spec: ..., status: ... })`. Refinements are checked; descriptions and defaults are published. */
  readonly schema: S
  /** Columns that `kubectl get` shows after Name: name, type and JSON path. Default: Age. */
  readonly columns?: readonly CustomResourceColumnDefinition[]
  /** Default: `status` if the schema has that member. */
  readonly subresources?: {
    readonly status?: boolean
    readonly scale?: {
      readonly specReplicasPath: string
      readonly statusReplicasPath: string
      readonly labelSelectorPath?: string
    }
  }
  /** JSON paths that field selectors may name. */
  readonly selectableFields?: readonly string[]
  /** Default true. */
  readonly served?: boolean
  /** Adds a Warning header to every response: the given text, or a default one that names a newer version. */
  readonly deprecated?: boolean | string
}

export type VersionTable = Readonly<Record<string, VersionOptions>>

/** Names of the versions that are neither alpha nor beta; all versions if there are none. */
export type StableVersion<V extends VersionTable> = [Extract<keyof V & string, `v${bigint}`>] extends [never]
  ? keyof V & string
  : Extract<keyof V & string, `v${bigint}`>

/** Converts objects between one version and the storage version. Arguments are frozen. */
export interface VersionConversion {
  toStorage(object: DeepReadonly<ApiObject>): Omit<ApiObject, 'apiVersion' | 'kind'> & Record<string, unknown>
  fromStorage(object: DeepReadonly<ApiObject>): Omit<ApiObject, 'apiVersion' | 'kind'> & Record<string, unknown>
}

/**
 * What the server does with objects beyond their schemas. Hooks see objects of the storage version, whatever the version of a
 * request, and only objects that the schema accepts; paths of errors are those of the storage version. A hook that throws
 * causes a 500.
 */
export interface ResourceStrategy<T extends ApiObject = ApiObject> {
  /** Runs before validation; may change the draft. Not called for writes of the status. */
  prepareForCreate?(object: T, context: StrategyContext): void
  prepareForUpdate?(object: T, old: DeepReadonly<T>, context: StrategyContext): void
  /** Errors of an object that its schema accepts; `old` is set on update. Not called for writes of the status. */
  validate?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: StrategyContext): readonly FieldError[]
  /** As `validate`, for writes of the status. */
  validateStatus?(object: DeepReadonly<T>, old: DeepReadonly<T>, context: StrategyContext): readonly FieldError[]
  /** Texts of Warning headers. */
  warnings?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: StrategyContext): readonly string[]
}

export interface ResourceOptions<V extends VersionTable, S extends keyof V & string = StableVersion<V>> {
  /** A DNS name with at least one dot. */
  readonly group: string
  readonly kind: string
  /** By name: `v1`, `v1beta1`. */
  readonly versions: V
  /** Version that objects are stored in. Default: the newest of the most stable ones. */
  readonly storageVersion?: S
  /** Default: the English plural of the kind in lower case: `widgets`, `policies`, `classes`. */
  readonly plural?: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Default true. */
  readonly namespaced?: boolean
  /** By version. A version without an entry has the members of the storage version. */
  readonly conversions?: { readonly [K in keyof V & string]?: VersionConversion }
  readonly strategy?: ResourceStrategy<ObjectOf<V[S]['schema']>>
}

/** One version of a resource, for the client interface. */
export interface ResourceHandle<T extends ApiObject, W extends ApiObject = T> extends Typed<T>, Completed<W> {
  readonly group: string
  readonly version: string
  /** Plural, as in URLs. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
}

/** A resource defined in code. Used as a handle, it is the storage version. */
export interface DefinedKind<V extends VersionTable, S extends keyof V & string = StableVersion<V>>
  extends ResourceHandle<ObjectOf<V[S]['schema']>, DraftOf<V[S]['schema']>>,
    ResourceSource {
  /** The handle of another version. */
  at<K extends keyof V & string>(version: K): ResourceHandle<ObjectOf<V[K]['schema']>, DraftOf<V[K]['schema']>>
  /**
   * The definition as a manifest for other servers. It lacks what a manifest cannot express: refinements, hooks and
   * conversions, for which `conversion` of the manifest has to name a webhook.
   */
  toManifest(): CustomResourceDefinition
}

/** Resources created together with a server: `createApiServer` takes them among its kinds. */
export interface ResourceSource {
  resources(types: TypeSource): readonly ResourceDefinition[]
}
