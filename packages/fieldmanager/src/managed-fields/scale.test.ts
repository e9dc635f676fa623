import type { ManagedFieldsEntry } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { entry } from '../testing/config-maps.ts'
import { parentManagedFields, scaleManagedFields } from './scale.ts'

describe('P230 ownership through scale', () => {
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

  it('shows those that own the replicas', () => {
    expect(scaleManagedFields(ownership)).toEqual([
      entry({
        manager: 'a',
        apiVersion: 'autoscaling/v1',
        time: '2020-01-01T00:00:00Z',
        fieldsV1: { 'f:spec': { 'f:replicas': {} } },
      }),
    ])
  })

  it('hands the replicas over', () => {
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

  it('gives nothing to those that wrote the status of the Scale only', () => {
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

  it('leaves owners that kept the replicas alone, and drops unknown versions', () => {
    const kept = parentManagedFields(
      { ...ownership, live: [...live, entry({ manager: 'z', apiVersion: 'apps/v9' })] },
      scaleManagedFields(ownership),
    )
    expect(kept.map(({ manager }) => manager)).toEqual(['b', 'a'])
  })
})
