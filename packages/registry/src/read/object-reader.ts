import type { ObjectReader } from '@krmkit/admission'
import { FollowedCollections } from '../cache/followed-collections.ts'
import type { ObjectCache } from '../cache/object-cache.ts'
import type { FrozenObject, RegistryEnvironment } from '../interfaces.ts'
import { collectionPrefix, objectKey } from '../keys.ts'
import type { ServedResources } from '../versions/served-resources.ts'

const noObjects: readonly FrozenObject[] = []

/** The reader of admission plugins and strategies. It reads the newest state from memory. */
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
