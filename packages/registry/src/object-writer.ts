import type { ObjectWriter } from '@krmkit/admission'
import { ApiError, type ApiObject, type GroupResource } from '@krmkit/meta'
import { serverContext } from './server-context.ts'
import type { ResourceStore } from './store.ts'

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
