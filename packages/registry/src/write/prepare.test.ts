import type { StrategyContext } from '@krmkit/kinds'
import type { FieldError } from '@krmkit/meta'
import { createTurns, type Work } from '@krmkit/meta/work'
import { describe, expect, it } from 'vitest'
import type { StoreInternals } from '../internals.ts'
import { prepareAndValidate } from './prepare.ts'

/** Work of a small object that takes longer than a slice. */
function* slow<T>(result: T, ended: string[], name: string): Work<T> {
  for (let i = 0; i < 3; i++) {
    for (const end = performance.now() + 9; performance.now() < end; );
    yield true
  }
  ended.push(name)
  return result
}

describe('prepareAndValidate', () => {
  const store = { definition: { strategy: {} }, turns: createTurns() } as unknown as StoreInternals
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } }
  const write = { object, old: undefined, name: () => 'a', stages: undefined, grants: undefined, about: {} as StrategyContext }

  it('runs each stage of a small object in slices once it takes longer than one', async () => {
    const ended: string[] = []
    const preparing = prepareAndValidate(store, {
      ...write,
      prepare: () => slow(undefined, ended, 'prepare'),
      validate: () => slow<FieldError[]>([], ended, 'validate'),
      canonicalize: () => slow(undefined, ended, 'canonicalize'),
    })
    expect(preparing).toBeInstanceOf(Promise)
    expect(ended).toEqual([])
    await preparing
    expect(ended).toEqual(['prepare', 'validate', 'canonicalize'])
  })

  it('is ready when the function returns for others', () => {
    const preparing = prepareAndValidate(store, {
      ...write,
      prepare: () => undefined,
      // biome-ignore lint/correctness/useYield: nothing takes long
      *validate() {
        return []
      },
      canonicalize: () => undefined,
    })
    expect(preparing).toBeUndefined()
  })
})
