import { describe, expect, it } from 'vitest'
import { restoreObject } from './review.ts'

describe('restoreObject', () => {
  const expected = { original: { apiVersion: 'g/v1', kind: 'X' }, apiVersion: 'g/v2' }

  it('asks the webhook for metadata that the original lacks, and keeps none but labels and annotations', () => {
    const converted = { apiVersion: 'g/v2', kind: 'X' }
    expect(() => restoreObject(converted, expected)).toThrow('returned invalid metadata: missing metadata in converted object')
    const metadata = { labels: { a: 'b' }, generation: 3 }
    expect(restoreObject({ ...converted, metadata }, expected)).toEqual({ ...converted, metadata: { labels: { a: 'b' } } })
  })

  it('rejects a name that the original lacks', () => {
    const converted = { apiVersion: 'g/v2', kind: 'X', metadata: { name: 'a' } }
    expect(() => restoreObject(converted, expected)).toThrow('must have the same name:  != a')
  })
})
