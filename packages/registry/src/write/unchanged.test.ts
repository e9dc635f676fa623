import type { AdmissionPlugin } from '@krmkit/admission'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { type SampleOptions, sampleRegistry } from '../testing/sample-registry.ts'

/** Updates whose change returns the stored object itself. */

async function service(options: SampleOptions = {}) {
  const sample = sampleRegistry(options)
  await sample.create('services', { metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } })
  const definition = sample.definition('services')
  const seen: string[] = []
  const { strategy } = definition
  const watched = {
    ...definition,
    strategy: {
      ...strategy,
      prepareForUpdate: (...args: Parameters<NonNullable<typeof strategy.prepareForUpdate>>) => {
        seen.push('prepare')
        return strategy.prepareForUpdate?.(...args)
      },
      validateUpdate: (...args: Parameters<NonNullable<typeof strategy.validateUpdate>>) => {
        seen.push('validate')
        return strategy.validateUpdate?.(...args) ?? []
      },
      warnings: () => ['mind'],
    },
  }
  const keep = (rest = {}) =>
    sample.registry.store(watched).updateStored(sample.context(rest), {
      namespace: 'ns',
      name: 's',
      subresource: '',
      managesFields: true,
      change: (current) => current as ApiObject,
    })
  return { ...sample, seen, keep }
}

describe('updates that change nothing', () => {
  it('are prepared and validated once; afterwards only warnings and admission run', async () => {
    const admissionCalls: string[] = []
    const plugin: AdmissionPlugin = {
      name: 'Asked',
      handles: ({ operation }) => operation === 'UPDATE',
      admit: () => void admissionCalls.push('admit'),
      validate: () => void admissionCalls.push('validate'),
    }
    const { keep, seen, storage, warnings } = await service({ admission: [plugin] })
    const { revision } = storage
    // Another definition stored the object, so this definition must validate it once.
    const first = await keep()
    expect([first.created, seen.splice(0), admissionCalls.splice(0)]).toEqual([
      false,
      ['prepare', 'validate'],
      ['admit', 'validate'],
    ])
    const second = await keep()
    expect([seen.splice(0), admissionCalls.splice(0)]).toEqual([[], ['admit', 'validate']])
    expect(second).toMatchObject({ object: first.object, entry: first.entry })
    expect(second.object).toBe(first.object)
    expect(storage.revision).toBe(revision)
    expect(warnings).toEqual(['mind', 'mind'])
  })

  it('are written when admission changes the object', async () => {
    const plugin: AdmissionPlugin = {
      name: 'Labels',
      handles: ({ operation }) => operation === 'UPDATE',
      admit: (object) => {
        object.metadata.labels = { admitted: 'yes' }
      },
    }
    const { keep, seen, stored } = await service({ admission: [plugin] })
    await keep()
    seen.length = 0
    const again = await keep()
    expect(seen).toEqual(['prepare', 'validate'])
    expect(again.object.metadata.labels).toEqual({ admitted: 'yes' })
    expect(stored('services', 's')?.metadata.labels).toEqual({ admitted: 'yes' })
  })

  it('remove a terminating object without finalizers or grace period', async () => {
    const { create, remove, store, context, stored, update } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/hold'] } })
    await remove('configmaps', 'a')
    const kept = await store('configmaps').updateStored(context(), {
      namespace: 'ns',
      name: 'a',
      subresource: '',
      managesFields: true,
      change: (current) => current as ApiObject,
    })
    expect(kept.object.metadata.finalizers).toEqual(['example.com/hold'])
    await update('configmaps', {
      name: 'a',
      change: (current) => ({ ...current, metadata: { ...current?.metadata, finalizers: [] } }) as unknown as ApiObject,
    })
    expect(stored('configmaps', 'a')).toBeUndefined()
  })

  it('return no entry in a dry run', async () => {
    const { keep } = await service()
    await keep()
    const dry = await keep({ dryRun: true })
    expect(dry.entry).toBeUndefined()
    expect(dry.object.metadata.name).toBe('s')
  })
})
