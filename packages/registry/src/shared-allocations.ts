import { base64Bytes, base64Text } from '@krmkit/base/bytes'
import type { SharedAllocations, StoredRange } from '@krmkit/kinds'
import { ApiError, type ApiObject, type GroupResource } from '@krmkit/meta'
import type { Entry, Storage } from '@krmkit/storage'
import { collectionPrefix } from './keys.ts'
import { serverContext } from './server-context.ts'
import type { ResourceStore } from './store.ts'

/** The collection in which kube-apiserver stores RangeAllocation objects, which no API serves. */
export const rangeAllocations = { group: '', resource: 'rangeallocations' }

/** A stored RangeAllocation. */
interface RangeAllocation extends ApiObject {
  range?: string
  /** Base64. */
  data?: string | null
}

/** Creates the record of assigned values for a store that several servers use. */
export function createSharedAllocations(
  storage: Storage,
  storeOf: (resource: GroupResource) => ResourceStore | undefined,
): SharedAllocations {
  /** The newest change of each range, by range name: the next change waits for it, so that changes of one process do not conflict. */
  const last = new Map<string, Promise<unknown>>()
  const decoded = new Map<string, { readonly entry: Entry; readonly range: StoredRange }>()
  const keyOf = (name: string) => collectionPrefix({ storage: rangeAllocations }) + name
  const range = (name: string): StoredRange | undefined => {
    const entry = storage.peek(keyOf(name))
    if (entry === undefined) return undefined
    let known = decoded.get(name)
    if (known?.entry !== entry) {
      known = { entry, range: decodeRange(entry.value) }
      decoded.set(name, known)
    }
    return known.range
  }
  const updateRange: SharedAllocations['updateRange'] = async (name, change) => {
    for (;;) {
      const expect = storage.peek(keyOf(name))?.revision ?? 0
      const next = change(range(name))
      if (next === undefined) return false
      const { outcome } = await storage.put(keyOf(name), (revision) => encodeRange(next, revision), { expect })
      if (outcome === 'written') return true
    }
  }
  const required = (resource: GroupResource): ResourceStore => {
    const store = storeOf(resource)
    if (store === undefined) throw ApiError.genericNotFound()
    return store
  }
  return {
    range,
    updateRange(name, change) {
      const start = () => updateRange(name, change)
      const next = (last.get(name) ?? Promise.resolve()).then(start, start)
      last.set(
        name,
        next.catch(() => undefined),
      )
      return next
    },
    async reserve(resource, object) {
      try {
        await required(resource).create(serverContext(), { namespace: '', object })
        return true
      } catch (error) {
        if (ApiError.is(error) && error.reason === 'AlreadyExists') return false
        throw error
      }
    },
    async release(resource, name, mayRelease) {
      const store = required(resource)
      const entry = storage.peek(collectionPrefix(store.definition) + name)
      if (entry === undefined) return
      const object = store.objects.objectOf(entry)
      if (!mayRelease(object)) return
      const { uid = '' } = object.metadata
      try {
        await store.delete(serverContext(), { namespace: '', name, options: { preconditions: { uid } } })
      } catch (error) {
        const isGone = ApiError.is(error) && (error.reason === 'NotFound' || error.reason === 'Conflict')
        if (!isGone) throw error
      }
    },
  }
}

function decodeRange(value: Uint8Array): StoredRange {
  const { range = '', data } = JSON.parse(new TextDecoder().decode(value)) as RangeAllocation
  return { range, data: base64Bytes(data ?? '') }
}

function encodeRange({ range, data }: StoredRange, revision: number): Uint8Array {
  const object: RangeAllocation = {
    ...{ kind: 'RangeAllocation', apiVersion: 'v1' },
    metadata: { resourceVersion: String(revision) },
    range,
    data: base64Text(data),
  }
  return new TextEncoder().encode(JSON.stringify(object))
}
