import { runAtOnce } from '@krmkit/base/work'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { describe, expect, it, vi } from 'vitest'
import { encodeStored } from '../cache/object-cache.ts'
import { sampleRegistry } from '../testing/sample-registry.ts'
import { encodeWithin, printParts } from './write-entry.ts'

/** A storage with another `put`. */
function withPut(storage: Storage, put: Storage['put']): Storage {
  return new Proxy(storage, {
    get(target, member) {
      if (member === 'put') return put
      const value = Reflect.get(target, member) as unknown
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

/** A storage that records whether the object of a write is frozen when it has been encoded, because from then on watchers may read it. */
function observed(storage: Storage) {
  const frozen: boolean[] = []
  const put: Storage['put'] = (key, encode, options) =>
    storage.put(
      key,
      (revision) => {
        const bytes = encode(revision)
        const memo = options?.memo as { readonly object?: ApiObject } | undefined
        frozen.push(memo?.object !== undefined && Object.isFrozen(memo.object) && Object.isFrozen(memo.object.metadata.labels))
        return bytes
      },
      options,
    )
  return { storage: withPut(storage, put), frozen }
}

it('freezes small objects before watchers can read them', async () => {
  const { storage, frozen } = observed(memoryStorage())
  const { create, update } = sampleRegistry({ storage })
  await create('configmaps', { metadata: { name: 'a', labels: { a: 'b' } } })
  await update('configmaps', {
    name: 'a',
    change: (current) => {
      const next = structuredClone(current) as ApiObject
      next.metadata.labels = { a: 'c' }
      return next
    },
  })
  expect(frozen).toEqual([true, true])
})

it.each([
  ['small', 'x'],
  ['large', 'x'.repeat(200_000)],
])('encodes a %s object once where the store learns the revision later', async (_size, value) => {
  const memory = memoryStorage()
  const stringify = vi.spyOn(JSON, 'stringify')
  const calls: number[] = []
  const storage = withPut(memory, (key, encode, options) => {
    encode(0)
    return memory.put(
      key,
      (revision) => {
        stringify.mockClear()
        const bytes = encode(revision)
        calls.push(stringify.mock.calls.length)
        return bytes
      },
      options,
    )
  })
  const { create } = sampleRegistry({ storage })
  try {
    const { object, entry } = await create('configmaps', { metadata: { name: 'a' }, data: { value } })
    expect(calls).toEqual([0])
    expect(object.metadata.resourceVersion).toBe(String(entry?.revision))
    expect(entry?.value).toEqual(encodeStored(object))
  } finally {
    stringify.mockRestore()
  }
})

const objectOf = (owners = 0): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name: 'a',
    ...(owners === 0
      ? {}
      : { managedFields: [{ manager: 'm'.repeat(owners), operation: 'Update', apiVersion: 'v1', fieldsType: 'FieldsV1' }] }),
  },
})

const refusal = (make: () => unknown): ApiError | undefined => {
  try {
    make()
    return undefined
  } catch (error) {
    return error as ApiError
  }
}

describe('the size of stored objects', () => {
  it('is the same when members were encoded ahead', () => {
    const large = { ...objectOf(500), data: { a: '<', 9: 'é', 10: '' }, list: [{}, null], text: 'x' }
    const size = { maxBytes: 10_000, mayDropOwners: true }
    const printed = runAtOnce(printParts(large))
    expect(encodeWithin(large, { ...size, printed })).toEqual(encodeWithin(large, size))
    const tight = { maxBytes: 300, mayDropOwners: true }
    expect(encodeWithin(structuredClone(large), tight)).toEqual(encodeWithin(large, { ...tight, printed }))
    expect(large.metadata).not.toHaveProperty('managedFields')
  })

  it('may equal the limit', () => {
    const bytes = encodeWithin(objectOf(), { maxBytes: 10_000, mayDropOwners: false })
    expect(encodeWithin(objectOf(), { maxBytes: bytes.byteLength, mayDropOwners: false })).toEqual(bytes)
    const error = refusal(() => encodeWithin(objectOf(), { maxBytes: bytes.byteLength - 1, mayDropOwners: true }))
    expect(error).toBeInstanceOf(ApiError)
    expect([error?.code, error?.reason]).toEqual([413, 'RequestEntityTooLarge'])
    expect(error?.message).toContain('request is too large')
  })

  it('drops managedFields above the limit, except for an apply', () => {
    const large = objectOf(500)
    expect(refusal(() => encodeWithin(large, { maxBytes: 300, mayDropOwners: false }))?.code).toBe(413)
    expect(encodeWithin(large, { maxBytes: 300, mayDropOwners: true })).toEqual(
      encodeWithin(objectOf(), { maxBytes: 300, mayDropOwners: true }),
    )
    expect(large.metadata).not.toHaveProperty('managedFields')
  })
})
