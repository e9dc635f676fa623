import type { ApiObject, Completed, DeepReadonly, FieldError, Typed } from '@krmkit/meta'
import type { TypeSource } from '@krmkit/schema'
import type { ResourceDefinition, StrategyContext } from '../interfaces.ts'
import type { CustomResourceColumnDefinition, CustomResourceDefinition } from '../types/apiextensions-v1.generated.ts'
import type { z } from './zod.ts'

/** Resources that are defined in code by zod schemas: the options of `defineResource`, and what comes of them. */

/** The members of objects beside `apiVersion`, `kind` and `metadata`. */
export type MemberSchema = z.ZodObject

/** Objects of a schema, as they are stored: with defaults. */
export type ObjectOf<S extends MemberSchema> = ApiObject & z.output<S>

/** Objects of a schema, as they may be written: what has a default may be left out. */
export type DraftOf<S extends MemberSchema> = ApiObject & z.input<S>

/** One version of a resource. */
export interface VersionOptions<S extends MemberSchema = MemberSchema> {
  /** `z.object({ spec: ..., status: ... })`. Refinements are checked; descriptions and defaults are published. */
  readonly schema: S
  /** What `kubectl get` shows between Name and nothing: name, type and JSON path. Default: the age. */
  readonly columns?: readonly CustomResourceColumnDefinition[]
  /** Default: `status` where the schema has that member. */
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
  /** Every request is answered with a warning: of one's own, or one that names a newer version. */
  readonly deprecated?: boolean | string
}

export type VersionTable = Readonly<Record<string, VersionOptions>>

/** Names of the versions that are neither alpha nor beta; of all of them where there are no such. */
export type StableVersion<V extends VersionTable> = [Extract<keyof V & string, `v${bigint}`>] extends [never]
  ? keyof V & string
  : Extract<keyof V & string, `v${bigint}`>

/** How objects of one version and those of the storage version become each other. Arguments are frozen. */
export interface VersionConversion {
  toStorage(object: DeepReadonly<ApiObject>): Omit<ApiObject, 'apiVersion' | 'kind'> & Record<string, unknown>
  fromStorage(object: DeepReadonly<ApiObject>): Omit<ApiObject, 'apiVersion' | 'kind'> & Record<string, unknown>
}

/**
 * What happens to objects beside what schemas say. Objects are of the storage version, whatever version a request is in, and are such
 * as the schema allows; places of errors are those of the storage version. A hook that throws makes the answer a 500.
 */
export interface ResourceStrategy<T extends ApiObject = ApiObject> {
  /** Runs before objects are validated; may change the draft, which is the hook's own. Not for writes of the status. */
  prepareForCreate?(object: T, context: StrategyContext): void
  prepareForUpdate?(object: T, old: DeepReadonly<T>, context: StrategyContext): void
  /** What is wrong with an object that its schema allows; `old` when it replaces one. Not for writes of the status. */
  validate?(object: DeepReadonly<T>, old: DeepReadonly<T> | undefined, context: StrategyContext): readonly FieldError[]
  /** The same for writes of the status. */
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
  /** The version that objects are kept in. Default: the most stable, newest one. */
  readonly storageVersion?: S
  /** Default: the plural of the kind in lower case, as English mostly forms it: `widgets`, `policies`, `classes`. */
  readonly plural?: string
  readonly singular?: string
  readonly listKind?: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  /** Default true. */
  readonly namespaced?: boolean
  /** By version. Versions without one have the members of the storage version. */
  readonly conversions?: { readonly [K in keyof V & string]?: VersionConversion }
  readonly strategy?: ResourceStrategy<ObjectOf<V[S]['schema']>>
}

/** One version of a resource as the client interface takes it. */
export interface ResourceHandle<T extends ApiObject, W extends ApiObject = T> extends Typed<T>, Completed<W> {
  readonly group: string
  readonly version: string
  /** Plural, as in URLs. */
  readonly resource: string
  readonly kind: string
  readonly namespaced: boolean
}

/** A resource that was defined in code. As a handle it is its storage version. */
export interface DefinedKind<V extends VersionTable, S extends keyof V & string = StableVersion<V>>
  extends ResourceHandle<ObjectOf<V[S]['schema']>, DraftOf<V[S]['schema']>>,
    ResourceSource {
  /** Another of its versions, for the client. */
  at<K extends keyof V & string>(version: K): ResourceHandle<ObjectOf<V[K]['schema']>, DraftOf<V[K]['schema']>>
  /**
   * The same as a manifest for other servers. What a manifest cannot say stays behind: refinements of zod, hooks, and conversions,
   * for which `conversion` of the manifest has to name a webhook.
   */
  toManifest(): CustomResourceDefinition
}

/** Resources that are made when a server is: `createApiServer` takes them among its kinds. */
export interface ResourceSource {
  resources(types: TypeSource): readonly ResourceDefinition[]
}
