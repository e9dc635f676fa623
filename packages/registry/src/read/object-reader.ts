import type { ObjectReader, ObjectWriter } from '@krmkit/admission'
import { ApiError, type ApiObject, type GroupResource } from '@krmkit/meta'
import { FollowedCollections } from '../cache/followed-collections.ts'
import type { ObjectCache } from '../cache/object-cache.ts'
import type { FrozenObject, RegistryEnvironment } from '../interfaces.ts'
import { collectionPrefix, objectKey } from '../keys.ts'
import { serverContext } from '../server-context.ts'
import type { ResourceStore } from '../store.ts'
import type { ServedResources } from '../versions/served-resources.ts'

/** Access of admission plugins to other objects. */

const noObjects: readonly FrozenObject[] = []

export function createReader(environment: RegistryEnvironment, objectCache: ObjectCache, served: ServedResources): ObjectReader {
  const { storage } = environment
  const followed = new FollowedCollections(storage, objectCache)
  return {
    get({ group, resource }, namespace, name) {
      const definition = served.stored(group, resource)
      const entry = definition === undefined ? undefined : storage.peek(objectKey(definition, namespace, name))
      return entry === undefined ? undefined : objectCache.objectOf(entry)
    },
    async list({ group, resource }, namespace) {
      const definition = served.stored(group, resource)
      if (definition === undefined) return []
      if (followed.covers(definition)) return followed.list(definition, namespace ?? '')
      const { entries } = await storage.list({ prefix: collectionPrefix(definition, namespace ?? '') })
      return entries.map((entry) => objectCache.objectOf(entry))
    },
    listNow({ group, resource }, namespace = '') {
      const definition = served.stored(group, resource)
      if (definition === undefined) return noObjects
      return followed.covers(definition) ? followed.listNow(definition, namespace) : undefined
    },
    resourcesOf: ({ group, version, kind }) =>
      served.definitions
        .filter(({ kind: known }) => known.kind === kind && known.group === group && known.version === version)
        .map((each) => ({
          group: each.group,
          version: each.version,
          resource: each.resource.name,
          namespaced: each.kind.namespaced,
        })),
  }
}

/** Writes of admission plugins run through the store, as the server's own user. */
export function createWriter(storeOf: (resource: GroupResource) => ResourceStore | undefined): ObjectWriter {
  const required = (resource: GroupResource): ResourceStore => {
    const store = storeOf(resource)
    if (store === undefined) throw ApiError.genericNotFound()
    return store
  }
  return {
    async create(resource, namespace, object) {
      const stored = await required(resource).create(serverContext(), { namespace, object })
      return stored.object
    },
    async update({ group, resource, namespace, name, subresource }, change) {
      const stored = await required({ group, resource }).updateStored(serverContext(), {
        namespace,
        name,
        subresource,
        change(current) {
          if (current === undefined) throw ApiError.notFound({ group, resource }, name)
          return change(current) as ApiObject
        },
      })
      return stored.object
    },
  }
}
