import { ApiError, type ApiObject } from '@krmkit/meta'
import { runAtOnce } from '@krmkit/meta/work'
import { describe, expect, it } from 'vitest'
import { encodeWithin, printSteps } from './object-size.ts'

const object = (owners = 0): ApiObject => ({
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
    const large = { ...object(500), data: { a: '<', 9: 'é', 10: '' }, list: [{}, null], text: 'x' }
    const size = { maxBytes: 10_000, ownersMayGo: true }
    const printed = runAtOnce(printSteps(large))
    expect(encodeWithin(large, { ...size, printed })).toEqual(encodeWithin(large, size))
    const tight = { maxBytes: 300, ownersMayGo: true }
    expect(encodeWithin(structuredClone(large), tight)).toEqual(encodeWithin(large, { ...tight, printed }))
    expect(large.metadata).not.toHaveProperty('managedFields')
  })

  it('may equal the limit', () => {
    const bytes = encodeWithin(object(), { maxBytes: 10_000, ownersMayGo: false })
    expect(encodeWithin(object(), { maxBytes: bytes.byteLength, ownersMayGo: false })).toEqual(bytes)
    const error = refusal(() => encodeWithin(object(), { maxBytes: bytes.byteLength - 1, ownersMayGo: true }))
    expect(error).toBeInstanceOf(ApiError)
    expect([error?.code, error?.reason]).toEqual([413, 'RequestEntityTooLarge'])
    expect(error?.message).toContain('request is too large')
  })

  it('drops managedFields above the limit, except for an apply', () => {
    const large = object(500)
    expect(refusal(() => encodeWithin(large, { maxBytes: 300, ownersMayGo: false }))?.code).toBe(413)
    expect(encodeWithin(large, { maxBytes: 300, ownersMayGo: true })).toEqual(
      encodeWithin(object(), { maxBytes: 300, ownersMayGo: true }),
    )
    expect(large.metadata).not.toHaveProperty('managedFields')
  })
})
