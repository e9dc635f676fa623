import { type ObjectReader, type ObjectWriter, pluginUser } from '@krmkit/admission'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, type GroupResource } from '@krmkit/meta'
import { FollowedCollections } from './followed-collections.ts'
import type { RegistryEnvironment, WriteContext } from './interfaces.ts'
import { collectionPrefix, objectKey } from './keys.ts'
import type { ObjectCache } from './object-cache.ts'
import type { ServedResources } from './served-resources.ts'
import { createObject, updateObject } from './write.ts'
import type { Writer } from './writer.ts'

/** How admission plugins see and change other objects. */

export function createReader(environment: RegistryEnvironment, parsed: ObjectCache, served: ServedResources): ObjectReader {
  const { storage } = environment
  const followed = new FollowedCollections(storage, parsed)
  return {
    get({ group, resource }, namespace, name) {
      const definition = served.stored(group, resource)
      const entry = definition === undefined ? undefined : storage.peek(objectKey(definition, namespace, name))
      return entry === undefined ? undefined : parsed.objectOf(entry)
    },
    async list({ group, resource }, namespace) {
      const definition = served.stored(group, resource)
      if (definition === undefined) return []
      if (followed.covers(definition)) return followed.list(definition, namespace ?? '')
      const { entries } = await storage.list({ prefix: collectionPrefix(definition, namespace ?? '') })
      return entries.map((entry) => parsed.objectOf(entry))
    },
    listNow({ group, resource }) {
      const definition = served.stored(group, resource)
      if (definition === undefined) return []
      return followed.covers(definition) ? followed.listNow(definition) : undefined
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

/** Writes go the way of every request, as the server itself. */
export function createWriter(writer: () => Writer): ObjectWriter {
  const context = (): WriteContext => ({
    user: { username: pluginUser, groups: ['system:masters', 'system:authenticated'] },
    dryRun: false,
    fieldManager: 'kube-apiserver',
    signal: new AbortController().signal,
    warn: () => undefined,
  })
  const definitionOf = ({ group, resource }: GroupResource): ResourceDefinition => {
    const definition = writer().stored(group, resource)
    if (definition === undefined) throw ApiError.genericNotFound()
    return definition
  }
  return {
    async create(resource, namespace, object) {
      const stored = await createObject(writer(), definitionOf(resource), context(), { namespace, object })
      return stored.object
    },
    async update({ group, resource, namespace, name, subresource }, change) {
      const stored = await updateObject(writer(), definitionOf({ group, resource }), context(), {
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
