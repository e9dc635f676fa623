import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { FrozenObject } from '../interfaces.ts'
import { sampleRegistry } from '../testing/sample-registry.ts'
import { validateDeleteOptions } from './deletion-rules.ts'

const hold = 'example.com/hold'
const start = '2024-01-01T00:00:00Z'
const pod = (name: string, metadata: object = {}, spec: object = {}): Partial<ApiObject> => ({
  metadata: { name, ...metadata },
  spec: { nodeName: 'n', containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 30, ...spec },
})
const withFinalizers =
  (finalizers: string[]) =>
  (current: FrozenObject | undefined): ApiObject => {
    const next = structuredClone(current) as ApiObject
    next.metadata.finalizers = finalizers
    return next
  }

describe('validateDeleteOptions', () => {
  it.each([
    [{ propagationPolicy: 'Sideways' }, 'propagationPolicy: Unsupported value: "Sideways"'],
    [
      { propagationPolicy: 'x', orphanDependents: true },
      'is invalid: [propagationPolicy: Invalid value: "x": orphanDependents and deletionPropagation cannot be both set, propagationPolicy: Unsupported value: "x"',
    ],
    [{ propagationPolicy: 'Orphan', orphanDependents: true }, 'orphanDependents and deletionPropagation cannot be both set'],
    [{ dryRun: ['All', 'Some'] }, 'dryRun: Unsupported value: []string{"All", "Some"}: supported values: "All"'],
  ])('refuses %j', (options, why) => {
    expect(() => validateDeleteOptions(options)).toThrow(
      expect.objectContaining({ code: 422, message: expect.stringContaining(why) }),
    )
  })

  it.each([{}, { propagationPolicy: 'Foreground' }, { orphanDependents: false }, { dryRun: ['All'] }])(
    'accepts %j',
    (options) => {
      expect(() => validateDeleteOptions(options)).not.toThrow()
    },
  )
})

describe('objects without finalizers or grace period', () => {
  it('are removed at once; watchers see the last state at the version of the deletion', async () => {
    const { create, remove, stored, storage } = sampleRegistry()
    const { entry } = await create('configmaps', { metadata: { name: 'a' } })
    const answer = await remove('configmaps', 'a')
    expect(answer.removed).toBe(true)
    expect(stored('configmaps', 'a')).toBeUndefined()
    expect(answer.object.metadata.resourceVersion).toBe(String((entry?.revision ?? 0) + 1))
    expect(storage.revision).toBe((entry?.revision ?? 0) + 1)
    await expect(remove('configmaps', 'a')).rejects.toMatchObject({ code: 404 })
  })

  it('one of many concurrent deletions succeeds', async () => {
    const { create, remove } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    const answers = await Promise.allSettled(Array.from({ length: 8 }, () => remove('configmaps', 'a')))
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('are kept when a precondition fails', async () => {
    const { create, remove, stored } = sampleRegistry()
    const { object } = await create('configmaps', { metadata: { name: 'a' } })
    await expect(remove('configmaps', 'a', { preconditions: { uid: 'other' } })).rejects.toMatchObject({ code: 409 })
    await expect(remove('configmaps', 'a', { preconditions: { resourceVersion: '1' } })).rejects.toMatchObject({ code: 409 })
    expect(stored('configmaps', 'a')).toBeDefined()
    const { uid = '', resourceVersion = '' } = object.metadata
    expect((await remove('configmaps', 'a', { preconditions: { uid, resourceVersion } })).removed).toBe(true)
  })

  it('are kept in a dry run [P161]', async () => {
    const { create, remove, stored, storage } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    const before = storage.revision
    expect((await remove('configmaps', 'a', {}, { dryRun: true })).removed).toBe(true)
    expect(stored('configmaps', 'a')).toBeDefined()
    expect(storage.revision).toBe(before)
  })
})

describe('finalizers', () => {
  it('hold an object until the last one is removed [P15] [P125] [P126] [P127]', async () => {
    const { create, remove, update, stored, clock } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: [hold, 'example.com/other'] } })
    const marked = await remove('configmaps', 'a')
    expect(marked).toMatchObject({
      removed: false,
      object: { metadata: { deletionTimestamp: start, deletionGracePeriodSeconds: 0 } },
    })
    await clock.advance(60_000)
    const again = await remove('configmaps', 'a')
    expect(again.object.metadata.deletionTimestamp).toBe(start)
    expect(again.object.metadata.resourceVersion).toBe(marked.object.metadata.resourceVersion)
    await update('configmaps', { name: 'a', change: withFinalizers([hold]) })
    expect(stored('configmaps', 'a')?.metadata.finalizers).toEqual([hold])
    await update('configmaps', { name: 'a', change: withFinalizers([]) })
    expect(stored('configmaps', 'a')).toBeUndefined()
  })

  it('removing the last finalizer keeps an object that is not terminating', async () => {
    const { create, update, stored } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: [hold] } })
    await update('configmaps', { name: 'a', change: withFinalizers([]) })
    expect(stored('configmaps', 'a')).toBeDefined()
  })

  it('cannot be added to a terminating object', async () => {
    const { create, remove, update } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: [hold] } })
    await remove('configmaps', 'a')
    await expect(update('configmaps', { name: 'a', change: withFinalizers([hold, 'example.com/new']) })).rejects.toMatchObject({
      code: 422,
    })
  })
})

describe('propagation', () => {
  const finalizersAfter = async (options: object, finalizers: string[] = []) => {
    const { create, remove, stored } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers } })
    await remove('configmaps', 'a', options)
    return stored('configmaps', 'a')?.metadata.finalizers
  }

  it('foreground and orphan deletions wait for the garbage collector [P166]', async () => {
    expect(await finalizersAfter({ propagationPolicy: 'Foreground' })).toEqual(['foregroundDeletion'])
    expect(await finalizersAfter({ propagationPolicy: 'Orphan' })).toEqual(['orphan'])
    expect(await finalizersAfter({ orphanDependents: true }, [hold])).toEqual([hold, 'orphan'])
  })

  it('a background deletion does not wait where a kind has grace periods either [P166]', async () => {
    const { create, remove, stored } = sampleRegistry()
    const containers = [{ name: 'web', image: 'web:1' }]
    await create('pods', { metadata: { name: 'a', finalizers: ['orphan'] }, spec: { containers } })
    const { removed, object } = await remove('pods', 'a', { propagationPolicy: 'Background' })
    expect([removed, object.metadata.finalizers]).toEqual([true, undefined])
    expect(stored('pods', 'a')).toBeUndefined()
  })

  it('a background deletion does not wait, even after a foreground one [P166]', async () => {
    expect(await finalizersAfter({ propagationPolicy: 'Background' }, ['orphan'])).toBeUndefined()
    expect(await finalizersAfter({ orphanDependents: false }, ['foregroundDeletion'])).toBeUndefined()
    expect(await finalizersAfter({})).toBeUndefined()
  })

  it('finalizers of the object decide when the request has no policy', async () => {
    expect(await finalizersAfter({}, ['orphan'])).toEqual(['orphan'])
    expect(await finalizersAfter({ propagationPolicy: 'Foreground' }, ['orphan'])).toEqual(['foregroundDeletion'])
  })

  it('warns for kinds that orphan dependents by default', async () => {
    const { create, remove, warnings, stored } = sampleRegistry()
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } }
    await create('jobs', { metadata: { name: 'j' }, spec: { template } })
    await remove('jobs', 'j')
    expect(stored('jobs', 'j')?.metadata.finalizers).toEqual(['orphan'])
    expect(warnings).toHaveLength(1)
    await remove('jobs', 'j', { propagationPolicy: 'Background' })
    expect(warnings).toHaveLength(1)
    expect(stored('jobs', 'j')).toBeUndefined()
    await expect(remove('jobs', 'j')).rejects.toMatchObject({ code: 404 })
    expect(warnings).toHaveLength(2)
  })
})

describe('grace periods', () => {
  it('a scheduled pod waits; a later deletion may shorten the period but not extend it [P165]', async () => {
    const { create, remove, stored } = sampleRegistry()
    await create('pods', pod('p'))
    const marked = await remove('pods', 'p')
    expect(marked).toMatchObject({
      removed: false,
      object: { metadata: { deletionTimestamp: '2024-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 } },
    })
    const later = await remove('pods', 'p', { gracePeriodSeconds: 60 })
    expect(later.object.metadata.resourceVersion).toBe(marked.object.metadata.resourceVersion)
    const sooner = await remove('pods', 'p', { gracePeriodSeconds: 5 })
    expect(sooner.object.metadata).toMatchObject({ deletionTimestamp: '2024-01-01T00:00:05Z', deletionGracePeriodSeconds: 5 })
    expect((await remove('pods', 'p', { gracePeriodSeconds: 0 })).removed).toBe(true)
    expect(stored('pods', 'p')).toBeUndefined()
  })

  it('a pod without a node is removed at once, after a write that marks it', async () => {
    const { create, remove, storage } = sampleRegistry()
    const { entry } = await create('pods', pod('p', {}, { nodeName: '' }))
    const watcher = storage.watch({ prefix: entry?.key ?? '', from: entry?.revision ?? 0 })
    const { object, removed } = await remove('pods', 'p')
    expect(removed).toBe(true)
    expect(object.metadata).toMatchObject({ generation: 2, deletionTimestamp: start, deletionGracePeriodSeconds: 0 })
    expect(watcher.take().map(({ type }) => type)).toEqual(['put', 'delete'])
    watcher.close()
  })

  it('a dry run returns the terminating state of a pod that would be removed at once', async () => {
    const { create, remove, stored } = sampleRegistry()
    await create('pods', pod('p', {}, { nodeName: '' }))
    const { object, removed } = await remove('pods', 'p', {}, { dryRun: true })
    expect(removed).toBe(true)
    expect(object.metadata).toMatchObject({ generation: 2, deletionTimestamp: start, deletionGracePeriodSeconds: 0 })
    expect(stored('pods', 'p')?.metadata.deletionTimestamp).toBeUndefined()
  })

  it('compares a resourceVersion precondition with the state before the object is marked', async () => {
    const { create, remove } = sampleRegistry()
    const { object } = await create('pods', pod('p', {}, { nodeName: '' }))
    const { resourceVersion = '' } = object.metadata
    expect((await remove('pods', 'p', { preconditions: { resourceVersion } })).removed).toBe(true)
  })

  it('finalizers hold a pod after its grace period', async () => {
    const { create, remove, update, stored } = sampleRegistry()
    await create('pods', pod('p', { finalizers: [hold] }))
    await remove('pods', 'p', { gracePeriodSeconds: 0 })
    expect(stored('pods', 'p')?.metadata).toMatchObject({ finalizers: [hold], deletionGracePeriodSeconds: 0 })
    await update('pods', { name: 'p', change: withFinalizers([]) })
    expect(stored('pods', 'p')).toBeUndefined()
  })

  it('a shortened period that is over already becomes one second, and takes the finalizers of the policy', async () => {
    const { create, remove, clock } = sampleRegistry()
    await create('pods', pod('p'))
    await remove('pods', 'p')
    await clock.advance(20_000)
    const { object } = await remove('pods', 'p', { gracePeriodSeconds: 5, propagationPolicy: 'Orphan' })
    expect(object.metadata).toMatchObject({
      deletionTimestamp: '2024-01-01T00:00:20Z',
      deletionGracePeriodSeconds: 1,
      finalizers: ['orphan'],
    })
  })

  it('a deletion after the grace period may change the propagation', async () => {
    const { create, remove } = sampleRegistry()
    await create('pods', pod('p', {}, { nodeName: '' }))
    await remove('pods', 'p', { propagationPolicy: 'Foreground' })
    const { object } = await remove('pods', 'p', { propagationPolicy: 'Orphan' })
    expect(object.metadata.finalizers).toEqual(['orphan'])
  })

  it('a negative period is one second', async () => {
    const { create, remove } = sampleRegistry()
    await create('pods', pod('p'))
    expect((await remove('pods', 'p', { gracePeriodSeconds: -7 })).object.metadata.deletionGracePeriodSeconds).toBe(1)
  })
})

describe('namespaces', () => {
  it('are terminating until spec.finalizers is empty', async () => {
    const { create, remove, stored, update } = sampleRegistry()
    await create('namespaces', { metadata: { name: 'shop' } })
    expect(await remove('namespaces', 'shop')).toMatchObject({
      removed: false,
      object: { metadata: { deletionTimestamp: start }, spec: { finalizers: ['kubernetes'] }, status: { phase: 'Terminating' } },
    })
    expect((await remove('namespaces', 'shop', { propagationPolicy: 'Orphan' })).object.metadata.finalizers).toBeUndefined()
    const change = (current: FrozenObject | undefined): ApiObject => ({ ...(structuredClone(current) as ApiObject), spec: {} })
    await update('namespaces', { name: 'shop', subresource: 'finalize', change })
    expect(stored('namespaces', 'shop')).toBeUndefined()
  })

  it.each([
    [{ propagationPolicy: 'Orphan' }, ['orphan']],
    [{ propagationPolicy: 'Foreground' }, ['foregroundDeletion']],
    [{ propagationPolicy: 'Background' }, undefined],
    [{ orphanDependents: true }, ['orphan']],
    [{ orphanDependents: false }, ['foregroundDeletion']],
  ])('%j marks dependents', async (options, finalizers) => {
    const { create, remove } = sampleRegistry()
    await create('namespaces', { metadata: { name: 'shop' } })
    expect((await remove('namespaces', 'shop', options)).object.metadata.finalizers).toEqual(finalizers)
  })

  it('name the resource in a precondition error; other kinds name the kind', async () => {
    const { create, remove } = sampleRegistry()
    await create('namespaces', { metadata: { name: 'shop' } })
    await create('configmaps', { metadata: { name: 'a' } })
    const options = { preconditions: { uid: 'other' } }
    await expect(remove('namespaces', 'shop', options)).rejects.toThrow(
      'on namespaces "shop": Precondition failed: UID in precondition: other',
    )
    await expect(remove('configmaps', 'a', options)).rejects.toThrow(
      'on ConfigMap "a": the UID in the precondition (other) does not match the UID in record',
    )
  })
})

it('objects are deleted in order up to the first that does not meet a precondition', async () => {
  const { create, context, store, stored } = sampleRegistry()
  for (const name of ['b', 'c', 'a']) await create('configmaps', { metadata: { name } })
  const removed = async (uid: string | undefined) => {
    const options = { preconditions: { uid: uid ?? '' } }
    await expect(store('configmaps').deleteCollection(context(), { namespace: 'ns', options })).rejects.toMatchObject({
      code: 409,
    })
    return ['a', 'b', 'c'].filter((name) => stored('configmaps', name) === undefined)
  }
  expect(await removed(stored('configmaps', 'b')?.metadata.uid)).toEqual([])
  expect(await removed(stored('configmaps', 'a')?.metadata.uid)).toEqual(['a'])
})
