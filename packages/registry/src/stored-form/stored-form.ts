import type { Catalog, ResourceDefinition } from '@krmkit/kinds'
import { formerConversion } from '@krmkit/kinds/former-versions'
import { type ApiObject, formatApiVersion, type GroupVersionKind } from '@krmkit/meta'
import { decode, decodeProtobuf, encodeProtobuf, normalize, parseJson, readEnvelope, type StructType } from '@krmkit/schema'
import { hasProtobufMagic } from '@krmkit/schema/protobuf'
import type { StoredForm } from '@krmkit/storage/etcd'
import { type CachedObject, encodeStored } from '../cache/object-cache.ts'
import { collectionPrefix } from '../keys.ts'
import { StorageNormalizer } from '../versions/canonical-form.ts'
import { objectIn, revisionForm, withRevision } from './revision-form.ts'

export interface StoredFormOptions {
  /** The built-in kinds. */
  readonly catalog: Pick<Catalog, 'definitions' | 'kind'>
  /** Lifetime of events, in seconds. Default one hour. */
  readonly eventTtlSeconds?: number
}

const defaultEventTtlSeconds = 3600

/**
 * The form in which kube-apiserver keeps objects in etcd, so that both servers can share one etcd: protobuf for built-in kinds and JSON for
 * custom resources, without resourceVersion; collections at the paths of kube-apiserver; events with a limited lifetime.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { createStoredForm } from '@krmkit/registry/stored-form'
 * const form = createStoredForm({ catalog: createCatalog() })
 * const value = new TextEncoder().encode('{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"web"}}')
 * const stored = form.encode('/core/configmaps/shop/web', value)
 * new TextDecoder().decode(stored.subarray(0, 3)) // 'k8s'
 */
export function createStoredForm({ catalog, eventTtlSeconds = defaultEventTtlSeconds }: StoredFormOptions): StoredForm {
  const builtIn = new Map<string, BuiltIn>()
  for (const definition of catalog.definitions) {
    const { storage, resource, custom } = definition
    if (custom !== undefined || resource.virtual === true || storage.prefix === undefined) continue
    const prefix = collectionPrefix(definition)
    const known = builtIn.get(prefix)
    const isStored = definition.group === storage.group && definition.version === storage.version
    if (known === undefined) builtIn.set(prefix, new BuiltIn(catalog, definition))
    else if (isStored) known.stored = definition
    builtIn.get(prefix)?.versions.push(definition)
  }
  for (const storage of internalCollections) builtIn.set(collectionPrefix({ storage }), new BuiltIn(catalog, { storage }))
  const of = (key: string): BuiltIn | undefined => builtIn.get(key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1))
  return {
    collections: [...builtIn].map(([prefix, { stored }]) => ({ prefix, path: `${stored.storage.prefix}/` })),
    ttlSeconds(key) {
      if (key.startsWith('/core/events/')) return eventTtlSeconds
      return key.startsWith(serverAddressesPrefix) ? serverAddressTtlSeconds : undefined
    },
    encode(key, value, memo) {
      const kind = of(key)
      const written = kind?.isConverted === true ? undefined : (memo as CachedObject | undefined)?.object
      const object = written ?? objectIn(value)
      if (object === undefined) return value
      const { resourceVersion: _, ...metadata } = object.metadata
      const unversioned = { ...object, metadata } as ApiObject
      return kind?.encode(unversioned) ?? encodeStored(unversioned)
    },
    decode(key, stored, revision) {
      const kind = of(key)
      if (hasProtobufMagic(stored)) return kind?.decode(stored, revision)
      if (stored[0] !== openingBrace) return key.startsWith(ownKeys) ? stored : undefined
      return kind === undefined ? withRevision(stored, revision) : kind.decodeJson(stored, revision)
    },
    ...revisionForm,
  }
}

/** Storage versions of kube-apiserver where they differ from those of this library, by collection prefix. */
const stockVersions: Readonly<Record<string, string>> = {
  '/apiextensions.k8s.io/customresourcedefinitions/': 'v1beta1',
  '/networking.k8s.io/ipaddresses/': 'v1beta1',
  '/networking.k8s.io/servicecidrs/': 'v1beta1',
}

/** Collections of built-in kinds that no API serves. */
const internalCollections: readonly ResourceDefinition['storage'][] = [
  { group: '', version: 'v1', resource: 'rangeallocations', prefix: 'ranges' },
  // Endpoints objects by which servers announce their addresses; each server renews its own object.
  { group: '', version: 'v1', resource: 'masterleases', prefix: 'masterleases' },
]
const serverAddressesPrefix = '/core/masterleases/'
/** Lifetime of an announced address. */
const serverAddressTtlSeconds = 15

/** Prefix of the keys whose values are not API objects. */
const ownKeys = '/krmkit/'
const openingBrace = 0x7b

/** A built-in collection. */
class BuiltIn {
  readonly #catalog: Pick<Catalog, 'kind'>
  readonly #normalizer = new StorageNormalizer()
  readonly #stockVersion: string | undefined
  /** The definition of the storage version, where this version is served. */
  stored: Pick<ResourceDefinition, 'storage'>
  readonly versions: ResourceDefinition[] = []

  constructor(catalog: Pick<Catalog, 'kind'>, definition: Pick<ResourceDefinition, 'storage'>) {
    this.#catalog = catalog
    this.#stockVersion = stockVersions[collectionPrefix(definition)]
    this.stored = definition
  }

  /** Whether objects in etcd have another version than their entries in this library. */
  get isConverted(): boolean {
    return this.#stockVersion !== undefined
  }

  encode(object: ApiObject): Uint8Array {
    if (this.#stockVersion === undefined) return encodeProtobuf(this.#typeOf(gvkOf(object)), object)
    const stored = this.#converted(object, this.#stockVersion)
    const type = this.#typeOf(gvkOf(stored))
    return encodeProtobuf(type, normalize(type, stored))
  }

  decode(bytes: Uint8Array, revision: number): Uint8Array {
    const envelope = readEnvelope(bytes)
    const type = this.#typeOf(gvkOf(envelope))
    return this.#present(decodeProtobuf<ApiObject>(type, envelope).object, revision)
  }

  decodeJson(bytes: Uint8Array, revision: number): Uint8Array {
    const { value } = parseJson(bytes)
    return this.#present(decode<ApiObject>(this.#typeOf(gvkOf(value as Partial<ApiObject>)), value).object, revision)
  }

  /** The object in the storage version, with its revision. */
  #present(object: ApiObject, revision: number): Uint8Array {
    const { version } = this.stored.storage
    const converted = this.#converted(object, version)
    converted.metadata.resourceVersion = String(revision)
    const type = this.#typeOf(gvkOf(converted))
    return encodeStored(this.#normalizer.normalize(type, normalize(type, converted)))
  }

  /** Converts between the storage version of this library and the version in etcd. */
  #converted(object: ApiObject, version: string): ApiObject {
    const from = gvkOf(object)
    const to = { group: this.stored.storage.group, version, kind: from.kind }
    if (from.group === to.group && from.version === version) return object
    const served = this.versions.find((each) => each.group === from.group && each.version === from.version)
    if (served?.toStorage !== undefined && version === this.stored.storage.version) return served.toStorage(object)
    const former = formerConversion(from, to, { defaults: false })
    if (former !== undefined) return former(object)
    throw new TypeError(`${from.kind} of ${object.apiVersion} cannot be converted to ${version}`)
  }

  #typeOf(gvk: GroupVersionKind): StructType {
    const type = this.#catalog.kind(gvk)?.type()
    if (type === undefined) throw new TypeError(`${gvk.kind} of ${formatApiVersion(gvk)} is not a known kind`)
    return type
  }
}

function gvkOf({ apiVersion = '', kind = '' }: { readonly apiVersion?: string; readonly kind?: string }): GroupVersionKind {
  const slash = apiVersion.indexOf('/')
  return { group: slash < 0 ? '' : apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1), kind }
}
