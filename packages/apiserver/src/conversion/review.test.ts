import { runAtOnce } from '@krmkit/base/work'
import type { ApiObject, JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type ExpectedObject, restoreObject } from './review.ts'

const restore = (converted: JsonValue, expected: ExpectedObject) => runAtOnce(restoreObject(converted, expected))

describe('restored objects', () => {
  const expected = { original: { apiVersion: 'g/v1', kind: 'X' } as ApiObject, apiVersion: 'g/v2' }

  it('take only labels and annotations from the converted metadata when the original has no metadata', () => {
    const converted = { apiVersion: 'g/v2', kind: 'X' }
    expect(() => restore(converted, expected)).toThrow('returned invalid metadata: missing metadata in converted object')
    const metadata = { labels: { a: 'b' }, generation: 3 }
    expect(restore({ ...converted, metadata }, expected)).toEqual({ ...converted, metadata: { labels: { a: 'b' } } })
  })

  it('are rejected with a name that the original lacks', () => {
    const converted = { apiVersion: 'g/v2', kind: 'X', metadata: { name: 'a' } }
    expect(() => restore(converted, expected)).toThrow('must have the same name:  != a')
  })

  it('yield while many annotations are compared', () => {
    const annotations = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, 'v']))
    const original = { apiVersion: 'g/v1', kind: 'X', metadata: { name: 'a', annotations } } as ApiObject
    const work = restoreObject({ ...original, apiVersion: 'g/v2' } as unknown as JsonValue, { original, apiVersion: 'g/v2' })
    expect([...work].length).toBeGreaterThan(50)
  })
})
