import type { ManagedFieldsEntry } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { entry } from '../testing/config-maps.ts'
import { parentManagedFields, scaleManagedFields } from './scale.ts'

describe('ownership through the scale sub-resource [P230]', () => {
  const path = ['f:spec', 'f:replicas']
  const live: ManagedFieldsEntry[] = [
    entry({
      manager: 'a',
      apiVersion: 'apps/v1',
      time: '2020-01-01T00:00:00Z',
      fieldsV1: { 'f:spec': { 'f:paused': {}, 'f:replicas': {} } },
    }),
    entry({ manager: 'b', apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
  ]
  const ownership = { live, apiVersion: 'apps/v1', replicasPaths: { 'apps/v1': path } }

  it('returns the owners of the replicas', () => {
    expect(scaleManagedFields(ownership)).toEqual([
      entry({
        manager: 'a',
        apiVersion: 'autoscaling/v1',
        time: '2020-01-01T00:00:00Z',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      }),
    ])
  })

  it('moves ownership of the replicas to the writer of the Scale', () => {
    const scaler = entry({
      manager: 'hpa',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      time: '2021-01-01T00:00:00Z',
      fieldsV1: { 'f:spec': { 'f:replicas': {} } },
    })
    expect(parentManagedFields(ownership, [scaler])).toEqual([
      entry({ manager: 'b', apiVersion: 'apps/v1', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry({ manager: 'a', apiVersion: 'apps/v1', time: '2020-01-01T00:00:00Z', fieldsV1: { 'f:spec': { 'f:paused': {} } } }),
      entry({
        manager: 'hpa',
        operation: 'Update',
        apiVersion: 'apps/v1',
        subresource: 'scale',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      }),
    ])
  })

  it('ignores managers that wrote only the status of the Scale', () => {
    const reporter = entry({
      manager: 'reporter',
      operation: 'Update',
      apiVersion: 'autoscaling/v1',
      subresource: 'scale',
      fieldsV1: { 'f:status': { 'f:replicas': {} } },
    })
    const kept = parentManagedFields(ownership, [...scaleManagedFields(ownership), reporter])
    expect(kept.map(({ manager }) => manager)).toEqual(['b', 'a'])
  })

  it('keeps owners that still own the replicas, and drops unknown versions', () => {
    const kept = parentManagedFields(
      { ...ownership, live: [...live, entry({ manager: 'z', apiVersion: 'apps/v9' })] },
      scaleManagedFields(ownership),
    )
    expect(kept.map(({ manager }) => manager)).toEqual(['b', 'a'])
  })
})
