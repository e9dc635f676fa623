import type { Catalog, ResourceDefinition } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { decode, decodeProtobuf, encodeProtobuf, normalize, parseJson, readEnvelope, type StructType } from '@krmkit/schema'
import { hasProtobufMagic } from '@krmkit/schema/protobuf'
import type { StoredForm } from '@krmkit/storage/etcd'
import { collectionPrefix } from './keys.ts'
import { encodeStored } from './object-cache.ts'
import { StorageNormalizer } from './storage-normalizer.ts'

export interface StoredFormOptions {
  /** The built-in kinds. */
  readonly catalog: Pick<Catalog, 'definitions' | 'kind'>
  /** Lifetime of events, in seconds. Default one hour. */
  readonly eventTtlSeconds?: number
}

const defaultEventTtlSeconds = 3600

/**
 * The form in which the stock server keeps objects in etcd, so that both can share one: protobuf for built-in kinds and JSON for custom
 * resources, without resourceVersion; collections at the paths of the stock server; events with a limited lifetime.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { createStoredForm } from '@krmkit/registry'
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
  const of = (key: string): BuiltIn | undefined => builtIn.get(key.slice(0, key.indexOf('/', key.indexOf('/', 1) + 1) + 1))
  return {
    collections: [...builtIn].map(([prefix, { stored }]) => ({ prefix, path: `${stored.storage.prefix}/` })),
    ttlSeconds: (key) => (key.startsWith('/core/events/') ? eventTtlSeconds : undefined),
    encode(key, value) {
      const object = objectIn(value)
      if (object === undefined) return value
      delete object.metadata.resourceVersion
      return of(key)?.encode(object) ?? encodeStored(object)
    },
    decode(key, stored, revision) {
      const kind = of(key)
      if (hasProtobufMagic(stored)) return kind?.decode(stored, revision)
      if (stored[0] !== openingBrace) return key.startsWith(ownKeys) ? stored : undefined
      return kind === undefined ? withRevision(stored, revision) : kind.decodeJson(stored, revision)
    },
    atRevision: (_key, value, revision) => withRevision(value, revision) ?? value,
  }
}

/**
 * Collections that the stock server keeps in another version than this library, by prefix. The versions have the same members. Objects
 * that it has stored in a version that is not served here are read in the same way.
 */
const stockVersions: Readonly<Record<string, string>> = {
  '/networking.k8s.io/ipaddresses/': 'networking.k8s.io/v1beta1',
  '/networking.k8s.io/servicecidrs/': 'networking.k8s.io/v1beta1',
}

/** Keys whose values are no objects. */
const ownKeys = '/krmkit/'
const openingBrace = 0x7b

/** A built-in collection. */
class BuiltIn {
  readonly #catalog: Pick<Catalog, 'kind'>
  readonly #normalizer = new StorageNormalizer()
  /** The definition of the storage version, where that is served. */
  stored: ResourceDefinition
  readonly versions: ResourceDefinition[] = []

  constructor(catalog: Pick<Catalog, 'kind'>, definition: ResourceDefinition) {
    this.#catalog = catalog
    this.stored = definition
  }

  encode(object: ApiObject): Uint8Array {
    object.apiVersion = stockVersions[collectionPrefix(this.stored)] ?? object.apiVersion
    return encodeProtobuf(this.#typeOf(object.apiVersion ?? '', object.kind ?? '').type, object)
  }

  decode(bytes: Uint8Array, revision: number): Uint8Array {
    const envelope = readEnvelope(bytes)
    const { type, definition } = this.#typeOf(envelope.apiVersion, envelope.kind)
    return this.#present(decodeProtobuf<ApiObject>(type, envelope).object, definition, revision)
  }

  decodeJson(bytes: Uint8Array, revision: number): Uint8Array | undefined {
    const { value } = parseJson(bytes)
    const { apiVersion = '', kind = '' } = value as Partial<ApiObject>
    const { type, definition } = this.#typeOf(apiVersion, kind)
    return this.#present(decode<ApiObject>(type, value).object, definition, revision)
  }

  /** Converts to the storage version where another server has stored another one. */
  #present(object: ApiObject, definition: ResourceDefinition | undefined, revision: number): Uint8Array {
    const { group, version } = this.stored.storage
    const converted = definition?.toStorage?.(object) ?? object
    converted.apiVersion = group === '' ? version : `${group}/${version}`
    converted.metadata.resourceVersion = String(revision)
    const type = this.#storedType()
    return encodeStored(this.#normalizer.normalize(type, normalize(type, converted)))
  }

  #storedType(): StructType {
    const { group, version } = this.stored.storage
    return this.#catalog.kind({ group, version, kind: this.stored.kind.kind })?.type() ?? this.stored.kind.type()
  }

  #typeOf(apiVersion: string, kind: string): { type: StructType; definition: ResourceDefinition | undefined } {
    const slash = apiVersion.indexOf('/')
    const [group, version] = slash < 0 ? ['', apiVersion] : [apiVersion.slice(0, slash), apiVersion.slice(slash + 1)]
    const type = this.#catalog.kind({ group, version, kind })?.type()
    if (type === undefined) throw new TypeError(`${kind} of ${apiVersion} is not a known kind`)
    return { type, definition: this.versions.find((each) => each.group === group && each.version === version) }
  }
}

function objectIn(value: Uint8Array): ApiObject | undefined {
  if (value[0] !== openingBrace) return undefined
  const object = parseJson(value).value as ApiObject
  return typeof object.metadata === 'object' && object.metadata !== null ? object : undefined
}

/** JSON with another resourceVersion; `undefined` for what is no object of an API. */
function withRevision(value: Uint8Array, revision: number): Uint8Array | undefined {
  const object = objectIn(value)
  if (object === undefined) return undefined
  object.metadata.resourceVersion = String(revision)
  return encodeStored(object)
}
