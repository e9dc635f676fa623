import { describe, expect, it } from 'vitest'
import { encodeStored } from '../cache/object-cache.ts'
import { revisionForm } from './revision-form.ts'

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const at = (value: Uint8Array, revision: number) => text(revisionForm.atRevision('/core/configmaps/shop/web', value, revision))
const object = (resourceVersion: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'web', resourceVersion, labels: { a: 'b' } },
  ...more,
})

describe('the revision form', () => {
  it.each([
    ['a short object', {}],
    ['text that looks like a version', { data: { a: '"resourceVersion":"0"', 'b\\"': '{["metadata":{' } }],
    ['another resourceVersion before the metadata', { apiVersion: 'v1', about: { metadata: { resourceVersion: '0' } } }],
    ['an array before the metadata', { about: ['metadata', { metadata: { resourceVersion: '0' } }], text: 'é<>\u2028' }],
  ])('replaces the version in %s', (_title, more) => {
    for (const [from, to] of [
      ['0', 123],
      ['98765', 7],
    ] as const) {
      const first = encodeStored({ ...more, ...object(from, more) })
      expect(at(first, to)).toBe(text(encodeStored({ ...more, ...object(String(to), more) })))
    }
  })

  it('adds a version where the metadata has none', () => {
    const value = encodeStored({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'web' }, spec: { resourceVersion: '1' } })
    expect(JSON.parse(at(value, 5))).toMatchObject({ metadata: { resourceVersion: '5' }, spec: { resourceVersion: '1' } })
  })

  it('leaves other values as they are', () => {
    expect(at(new TextEncoder().encode('1.24'), 5)).toBe('1.24')
  })

  it('does not change the given bytes', () => {
    const value = encodeStored(object('0'))
    const before = text(value)
    at(value, 5)
    expect(text(value)).toBe(before)
  })
})
