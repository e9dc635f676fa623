import type { MarkerRules, ResourceDefinition, ValidatedWrite } from '@krmkit/kinds'
import { type FieldError, field } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { sampleRegistry } from '../testing/sample-registry.ts'

/** Rules of validation markers that definitions carry. */

interface Seen {
  readonly errors: readonly string[]
  readonly write: ValidatedWrite
}

/** A definition whose rules refuse objects with the label `bad`, and what they were called with. */
function ruled(definition: ResourceDefinition) {
  const seen: Seen[] = []
  let loads = 0
  const markerRules: MarkerRules = {
    load() {
      loads++
      return loads === 1 ? Promise.resolve() : undefined
    },
    *complete(errors: readonly FieldError[], write) {
      const object = yield* write.inVersion(write.object)
      seen.push({ errors: errors.map((each) => each.field), write })
      return object.metadata.labels?.['bad'] === undefined ? errors : [...errors, field.required('metadata.labels[good]')]
    },
  }
  return { definition: { ...definition, markerRules }, seen, loads: () => loads }
}

function sample() {
  const registry = sampleRegistry()
  const { definition, seen, loads } = ruled(registry.definition('configmaps'))
  const store = registry.registry.store(definition)
  const object = (labels = {}, rest = {}) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c', labels } },
    ...rest,
  })
  const create = (labels = {}, rest = {}) =>
    store.create(registry.context(), { namespace: 'ns', object: object(labels, rest) as never })
  return { ...registry, store, seen, loads, object, create }
}

describe('rules of validation markers', () => {
  it('complete the validation of new objects', async () => {
    const { create, seen, loads } = sample()
    await create()
    expect(seen.map(({ errors, write }) => [errors, write.old])).toEqual([[[], undefined]])
    await expect(create({ bad: '' })).rejects.toMatchObject({
      status: { details: { causes: [{ field: 'metadata.labels[good]', message: 'Required value' }] } },
    })
    expect(loads()).toBe(2)
  })

  it('get the errors of the strategy', async () => {
    const { create, seen } = sample()
    await expect(create({}, { data: { '/': 'x' } })).rejects.toMatchObject({ code: 422 })
    expect(seen[0]?.errors).toEqual(['data[/]'])
  })

  it('complete the validation of updates, of subresources as well', async () => {
    const { create, seen, store, context } = sample()
    await create()
    const update = (subresource: string, labels: Record<string, string>) =>
      store.updateStored(context(), {
        ...{ namespace: 'ns', name: 'c', subresource },
        change: (current) => ({ ...current!, metadata: { ...current!.metadata, labels } }) as never,
      })
    await update('', { a: '' })
    await update('status', { b: '' })
    expect(
      seen.slice(1).map(({ write }) => [write.old?.metadata.labels, write.object.metadata.labels, write.subresource]),
    ).toEqual([
      [undefined, { a: '' }, ''],
      [{ a: '' }, { b: '' }, 'status'],
    ])
    await expect(update('', { bad: '' })).rejects.toMatchObject({ code: 422 })
  })

  it('see objects of the version of the request', async () => {
    const registry = sampleRegistry()
    const { definition, seen } = ruled(registry.definition('horizontalpodautoscalers'))
    const fromStorage = (object: { readonly metadata: object }) => ({ ...object, apiVersion: 'autoscaling/v9' }) as never
    const versions: string[] = []
    const complete: MarkerRules['complete'] = function* (errors, write) {
      versions.push((yield* write.inVersion(write.object)).apiVersion)
      return yield* definition.markerRules.complete(errors, write)
    }
    const store = registry.registry.store({ ...definition, fromStorage, markerRules: { ...definition.markerRules, complete } })
    const spec = { maxReplicas: 2, scaleTargetRef: { kind: 'Deployment', name: 'd' } }
    const object = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'h' }, spec }
    await store.create(registry.context(), { namespace: 'ns', object: object as never })
    expect([versions, seen.length]).toEqual([['autoscaling/v9'], 1])
  })
})
