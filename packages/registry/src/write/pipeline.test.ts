import type { AdmissionPlugin } from '@krmkit/admission'
import type { Work } from '@krmkit/base/work'
import type { Strategy } from '@krmkit/kinds'
import { ApiError, type ApiObject, type FieldError } from '@krmkit/meta'
import { memoryStorage, type Storage } from '@krmkit/storage'
import { describe, expect, it } from 'vitest'
import type { WriteGuard } from '../interfaces.ts'
import { type SampleOptions, sampleRegistry } from '../testing/sample-registry.ts'

/** Work on a small object that takes longer than a slice. */
function* slow<T>(result: T, ended: string[], name: string): Work<T> {
  for (let i = 0; i < 3; i++) {
    for (const end = performance.now() + 9; performance.now() < end; );
    yield true
  }
  ended.push(name)
  return result
}

/** A store of ConfigMaps with another strategy. */
function storeWith(strategy: Strategy, options: SampleOptions = {}) {
  const sample = sampleRegistry(options)
  return { ...sample, store: sample.registry.store({ ...sample.definition('configmaps'), strategy }) }
}

const configMap = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })

describe('the write pipeline', () => {
  it('runs each stage of a small object in slices once it takes longer than one', async () => {
    const ended: string[] = []
    const { store, context } = storeWith({
      prepareForCreate: () => slow(undefined, ended, 'prepare'),
      validate: () => slow<FieldError[]>([], ended, 'validate'),
      canonicalize: () => slow(undefined, ended, 'canonicalize'),
    })
    let turns = 0
    const counting = setInterval(() => turns++, 0)
    await store.create(context(), { namespace: 'ns', object: configMap('a') })
    clearInterval(counting)
    expect(ended).toEqual(['prepare', 'validate', 'canonicalize'])
    expect(turns).toBeGreaterThan(0)
  })

  it('runs the stages of a creation and of an update in the same order', async () => {
    const stages: string[] = []
    const note = <T>(stage: string, result: T): T => {
      stages.push(stage)
      return result
    }
    const plugin: AdmissionPlugin = {
      name: 'Noting',
      handles: () => true,
      admit: () => note('admit', undefined),
      validate: () => note('judge', undefined),
    }
    const guard: WriteGuard = { covers: () => true, check: async () => note('guard', undefined) }
    const prepare = () => note('prepare', undefined)
    const validate = () => note('validate', [])
    const strategy: Strategy = {
      prepareForCreate: prepare,
      prepareForUpdate: prepare,
      validate,
      validateUpdate: validate,
      warnings: () => note('warn', []),
      // biome-ignore lint/correctness/useYield: it completes nothing
      *canonicalize() {
        note('canonicalise', undefined)
      },
    }
    const { store, context } = storeWith(strategy, { admission: [plugin], guard })
    const order = ['admit', 'guard', 'prepare', 'validate', 'canonicalise', 'warn', 'judge']
    await store.create(context(), { namespace: 'ns', object: configMap('a') })
    expect(stages.splice(0)).toEqual(order)
    const change = () => ({ object: { ...configMap('a'), data: { color: 'red' } } as ApiObject })
    await store.update(context(), { namespace: 'ns', name: 'a', subresource: '', change })
    expect(stages).toEqual(order)
  })
})

describe('lost races', () => {
  /** A storage in which another writer is always first. */
  const lost = (storage: Storage): Storage =>
    new Proxy(storage, {
      get(target, member) {
        const value = Reflect.get(target, member) as unknown
        if (member === 'put' || member === 'delete') {
          return (...args: Parameters<Storage['put']>) =>
            args[2]?.expect === 0 ? target.put(...args) : Promise.resolve({ outcome: 'conflict', current: undefined })
        }
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
  const conflict = (error: unknown) => error instanceof ApiError && error.reason === 'Conflict'

  it.each([
    ['update', 100],
    ['deletion', 100],
  ])('end an %s after %d attempts', async (verb, limit) => {
    let attempts = 0
    const plugin: AdmissionPlugin = {
      name: 'Counting',
      handles: ({ operation }) => operation !== 'CREATE',
      validate: () => void attempts++,
    }
    const { create, update, remove } = sampleRegistry({ storage: lost(memoryStorage()), admission: [plugin] })
    await create('configmaps', { metadata: { name: 'a' } })
    const change = (current: unknown) => ({ ...structuredClone(current as ApiObject), data: { n: '1' } })
    const write = verb === 'update' ? update('configmaps', { name: 'a', change }) : remove('configmaps', 'a')
    await expect(write).rejects.toSatisfy(conflict)
    expect(attempts).toBe(limit)
  })
})
