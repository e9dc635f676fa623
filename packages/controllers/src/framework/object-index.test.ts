import type { Informer, InformerHandlers } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { ObjectIndex } from './object-index.ts'

function object(name: string, labels: Record<string, string>): ApiObject {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default', labels } }
}

describe('ObjectIndex', () => {
  it('follows the events of its informer', () => {
    let handlers: InformerHandlers<ApiObject> = {}
    const informer = {
      on(added: InformerHandlers<ApiObject>) {
        handlers = added
        return () => undefined
      },
    } as Partial<Informer<ApiObject>> as Informer<ApiObject>
    const index = new ObjectIndex(informer, ({ metadata }) => Object.values(metadata.labels ?? {}))
    const names = (value: string) => index.get(value).map(({ metadata }) => metadata.name)
    handlers.added?.(object('a', { x: 'red', y: 'round' }))
    handlers.added?.(object('b', { x: 'red' }))
    expect([names('red'), names('round'), names('blue')]).toEqual([['a', 'b'], ['a'], []])
    handlers.updated?.(object('a', { x: 'blue' }), object('a', { x: 'red', y: 'round' }))
    expect([names('red'), names('round'), names('blue')]).toEqual([['b'], [], ['a']])
    handlers.deleted?.(object('b', { x: 'red' }))
    expect(names('red')).toEqual([])
  })
})
