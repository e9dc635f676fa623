import { ApiError, type ApiObject, type DeepReadonly, type GroupResource } from '@krmkit/meta'
import { AdmissionError } from './admission-error.ts'
import type { ObjectReader, ObjectWriter, ServedKind } from './interfaces.ts'

type Stored = DeepReadonly<ApiObject>

/**
 * An in-memory set of objects that plugins read and write, for admission without a server. Writes do not run admission.
 *
 * @example
 * ```ts
 * import { ObjectSet } from '@krmkit/admission'
 *
 * const cluster = new ObjectSet()
 * cluster.put({ group: '', resource: 'namespaces' }, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } })
 * cluster.get({ group: '', resource: 'namespaces' }, '', 'shop')?.kind // 'Namespace'
 * ```
 */
export class ObjectSet implements ObjectReader, ObjectWriter {
  /** Keyed by `group/resource`, then by `namespace/name`. */
  readonly #collections = new Map<string, Map<string, Stored>>()
  readonly #resourcesOf: ObjectReader['resourcesOf']
  #version = 0

  /** @param resourcesOf maps a kind to its resources; default: none. */
  constructor(resourcesOf: (kind: Parameters<NonNullable<ObjectReader['resourcesOf']>>[0]) => readonly ServedKind[] = () => []) {
    this.#resourcesOf = resourcesOf
  }

  resourcesOf(kind: Parameters<NonNullable<ObjectReader['resourcesOf']>>[0]): readonly ServedKind[] {
    return this.#resourcesOf?.(kind) ?? []
  }

  /** @throws AdmissionError `InvalidArgument` for an object without metadata */
  put(resource: GroupResource, object: Stored): void {
    if (typeof resource?.resource !== 'string' || typeof object?.metadata !== 'object')
      throw new AdmissionError({ code: 'InvalidArgument', message: 'put needs { group, resource } and an object with metadata' })
    const { namespace = '', name = '' } = object.metadata
    const metadata = { ...object.metadata, resourceVersion: String(++this.#version) }
    this.#of(resource).set(`${namespace}/${name}`, { ...object, metadata })
  }

  get(resource: GroupResource, namespace: string, name: string): Stored | undefined {
    return this.#of(resource).get(`${namespace}/${name}`)
  }

  async list(resource: GroupResource, namespace = ''): Promise<readonly Stored[]> {
    return [...this.#of(resource)]
      .filter(([key]) => namespace === '' || key.startsWith(`${namespace}/`))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, object]) => object)
  }

  async create(resource: GroupResource, namespace: string, object: ApiObject): Promise<Stored> {
    const { name = '' } = object.metadata
    if (this.get(resource, namespace, name) !== undefined) throw ApiError.alreadyExists(resource, name)
    const metadata = namespace === '' ? object.metadata : { ...object.metadata, namespace }
    this.put(resource, { ...object, metadata })
    return this.get(resource, namespace, name) as Stored
  }

  async update(
    { group, resource, namespace, name }: Parameters<ObjectWriter['update']>[0],
    change: (current: Stored) => ApiObject,
  ): Promise<Stored> {
    const current = this.get({ group, resource }, namespace, name)
    if (current === undefined) throw ApiError.notFound({ group, resource }, name)
    this.put({ group, resource }, change(current))
    return this.get({ group, resource }, namespace, name) as Stored
  }

  #of({ group, resource }: GroupResource): Map<string, Stored> {
    const key = `${group}/${resource}`
    let collection = this.#collections.get(key)
    if (collection === undefined) {
      collection = new Map()
      this.#collections.set(key, collection)
    }
    return collection
  }
}
