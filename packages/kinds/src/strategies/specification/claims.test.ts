import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import {
  PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
} from '../../group-versions/core-v1.generated.ts'
import { decodeKind, encodeKind } from '../../group-versions/protobuf.ts'
import type { StrategyContext } from '../../interfaces.ts'
import { runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { persistentVolumeClaimStrategy as strategy } from '../core/persistent-volume-claim/strategy.ts'
import { testContext } from '../testing/context.ts'
import { faults } from '../testing/objects.ts'

/** PersistentVolumeClaim. @see Configuration and storage specification, 2.4 and 3 */

const base: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

function claim(spec: PersistentVolumeClaimSpec = {}, status?: PersistentVolumeClaimStatus): PersistentVolumeClaim {
  return PersistentVolumeClaim.create({
    metadata: { name: 'c', namespace: 'default', uid: 'u', resourceVersion: '1' },
    spec: { ...base, ...spec },
    ...(status === undefined ? {} : { status }),
  })
}

/** A claim as stored: defaulted and prepared. */
function stored(spec: PersistentVolumeClaimSpec = {}, status?: PersistentVolumeClaimStatus): PersistentVolumeClaim {
  const object = PersistentVolumeClaim.default(claim(spec))
  runPreparation(strategy.prepareForCreate?.(object, testContext()))
  return status === undefined ? object : { ...object, status }
}

const requests = (storage: string) => ({ resources: { requests: { storage } } })
const wrong = (spec: PersistentVolumeClaimSpec) => faults(PersistentVolumeClaim.validate(claim(spec)))
const changed = (now: PersistentVolumeClaim, old: PersistentVolumeClaim, context: Partial<StrategyContext> = {}) =>
  faults(PersistentVolumeClaim.validateUpdate(now, old, context))

describe('claims', () => {
  it('have access modes, a selector and a class [S54]', () => {
    expect(
      wrong({ accessModes: ['ReadWriteMany', 'ReadOnlyMany'], selector: { matchLabels: { a: 'b' } }, storageClassName: 'fast' }),
    ).toEqual([])
    expect(wrong({ accessModes: [] })).toEqual(['spec.accessModes Required'])
    expect(wrong({ accessModes: ['ReadSometimes'] })).toEqual(['spec.accessModes NotSupported'])
    expect(wrong({ accessModes: ['ReadWriteOncePod', 'ReadOnlyMany'] })).toEqual(['spec.accessModes Forbidden'])
    expect(wrong({ accessModes: ['ReadWriteOncePod'] })).toEqual([])
    expect(wrong({ selector: { matchExpressions: [{ key: 'a', operator: 'In' }] } })).toEqual([
      'spec.selector.matchExpressions[0].values Required',
    ])
    expect([wrong({ storageClassName: '' }), wrong({ storageClassName: 'A_' })]).toEqual([[], ['spec.storageClassName Invalid']])
  })

  it('require a storage request above zero [S55]', () => {
    expect(wrong({ resources: {} })).toEqual(['spec.resources[storage] Required'])
    for (const amount of ['0', '-1Gi']) expect(wrong(requests(amount)), amount).toEqual(['spec.resources[storage] Invalid'])
    expect(wrong({ resources: { requests: { storage: '1Gi' }, limits: { storage: '2Gi' } } })).toEqual([])
  })

  const bound = (storage: string, capacity = '1Gi') =>
    stored({ ...requests(storage), volumeName: 'v', storageClassName: 's' }, { phase: 'Bound', capacity: { storage: capacity } })
  const asking = (storage: string, old: PersistentVolumeClaim): PersistentVolumeClaim => ({
    ...old,
    spec: { ...old.spec, ...requests(storage) },
  })

  it('let a bound claim raise its request, and lower it down to the capacity [S56]', () => {
    const old = bound('3Gi')
    expect(changed(asking('5Gi', old), old)).toEqual([])
    expect(changed(asking('2Gi', old), old)).toEqual([])
    for (const less of ['1Gi', '512Mi'])
      expect(changed(asking(less, old), old), less).toEqual(['spec.resources.requests.storage Forbidden'])
    const pending = { ...old, status: { phase: 'Pending' } }
    expect(changed(asking('5Gi', pending), pending)).toEqual(['spec Forbidden'])
  })

  it('accept volumeName once, from the claim or on binding [S57]', () => {
    const free = stored()
    expect(changed({ ...free, spec: { ...free.spec, volumeName: 'v' } }, free)).toEqual([])
    const taken = stored({ volumeName: 'v' })
    expect(changed({ ...taken, spec: { ...taken.spec, volumeName: 'w' } }, taken)).toEqual(['spec Forbidden'])
  })

  it('default volumeMode to Filesystem and keep it immutable [S58]', () => {
    expect(PersistentVolumeClaim.default(claim()).spec?.volumeMode).toBe('Filesystem')
    expect([wrong({ volumeMode: 'Block' }), wrong({ volumeMode: 'Tape' })]).toEqual([[], ['spec.volumeMode NotSupported']])
    const old = stored()
    expect(changed({ ...old, spec: { ...old.spec, volumeMode: 'Block' } }, old)).toEqual(['spec Forbidden', 'volumeMode Invalid'])
  })

  const other = { kind: 'PersistentVolumeClaim', name: 'other' }
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }

  it('mirror dataSource and dataSourceRef [S59]', () => {
    for (const source of [other, snapshot]) {
      for (const given of [{ dataSource: source }, { dataSourceRef: source }, { dataSource: source, dataSourceRef: source }]) {
        const { dataSource, dataSourceRef } = stored(given).spec ?? {}
        expect([dataSource, dataSourceRef], JSON.stringify(given)).toMatchObject([source, source])
      }
    }
    expect(wrong({ dataSource: other, dataSourceRef: snapshot })).toEqual(['spec Invalid'])
    const empty = stored().spec
    expect([empty?.dataSource, empty?.dataSourceRef]).toEqual([undefined, undefined])
  })

  it('drop unknown kinds from dataSource and reject them in dataSourceRef [S60]', () => {
    const map = { kind: 'ConfigMap', name: 'm' }
    expect(stored({ dataSource: map }).spec).not.toHaveProperty('dataSource')
    expect(wrong({ dataSource: map })).toEqual([])
    expect(wrong({ dataSourceRef: map })).toEqual(['spec.dataSource Invalid', 'spec.dataSourceRef Invalid'])
    const custom = { apiGroup: 'example.com', kind: 'Anything', name: 'x' }
    expect(stored({ dataSourceRef: custom }).spec).toMatchObject({ dataSource: custom, dataSourceRef: custom })
    expect(stored({ dataSource: custom }).spec).not.toHaveProperty('dataSourceRef')
    expect(wrong({ dataSourceRef: { kind: '', name: '' } })).toEqual([
      'spec.dataSource.name Required',
      'spec.dataSource.kind Required',
      'spec.dataSource Invalid',
      'spec.dataSourceRef.name Required',
      'spec.dataSourceRef.kind Required',
      'spec.dataSourceRef Invalid',
    ])
  })
})

describe('the status of claims', () => {
  const context = testContext()
  const status = strategy.subresources?.['status']
  const statusErrors = (next: PersistentVolumeClaimStatus) =>
    faults(runValidation(status?.validateUpdate({ ...stored(), status: next }, stored(), context)))

  it('ignores the status of other writes [S61]', () => {
    const made = PersistentVolumeClaim.default(claim({}, { phase: 'Bound', capacity: { storage: '9Gi' } }))
    runPreparation(strategy.prepareForCreate?.(made, context))
    expect(made.status).toEqual({ phase: 'Pending' })
    const next = { ...stored(), status: { phase: 'Lost' } }
    runPreparation(strategy.prepareForUpdate?.(next, stored(), context))
    expect(next.status).toEqual({ phase: 'Pending' })
    expect(strategy.resetFields).toEqual({ '': [['status']], status: [['spec']] })
  })

  it('accepts capacity, access modes and phase, and leaves the rest alone [S62]', () => {
    const next = {
      ...stored(),
      spec: {},
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    }
    runPreparation(status?.prepareForUpdate(next, stored(), context))
    expect(next.spec).toEqual(stored().spec)
    expect(statusErrors(next.status)).toEqual([])
    expect(statusErrors({ capacity: { storage: '-1' } })).toEqual(['status.capacity[storage] Invalid'])
  })

  it('keeps allocated resources and their resize status [S63]', () => {
    const given = {
      allocatedResources: { storage: '2Gi' },
      resizeStatus: 'ControllerExpansionInProgress',
      allocatedResourceStatuses: { storage: 'NodeResizePending' },
    }
    const decoded = PersistentVolumeClaim.decode({ ...claim(), status: given })
    expect(decoded.status).toEqual(given)
    expect(decodeKind(PersistentVolumeClaim, encodeKind(PersistentVolumeClaim, decoded)).status).toEqual(given)
    const next = { ...stored(), status: given }
    runPreparation(status?.prepareForUpdate(next, stored(), context))
    expect([next.status, statusErrors(next.status)]).toEqual([given, []])
  })

  it('validates allocated resources and their resize status [S63]', () => {
    expect(statusErrors({ allocatedResources: { storage: '-1' } })).toEqual(['status.allocatedResources[storage] Invalid'])
    expect(statusErrors({ allocatedResources: { cpu: '1' } })).toEqual(['status.allocatedResources NotSupported'])
    expect(statusErrors({ allocatedResourceStatuses: { storage: 'Sometime' } })).toEqual([
      'status.allocatedResourceStatus NotSupported',
    ])
    expect(statusErrors({ allocatedResources: { 'example.com/part': '1' } })).toEqual([])
  })

  it('allows one condition per type [S64]', () => {
    const conditions = createCatalog().types.struct('core/v1.PersistentVolumeClaimStatus').field.get('conditions')
    expect(conditions).toMatchObject({ patchMergeKey: 'type', patchStrategy: 'merge', listType: 'map', listMapKeys: ['type'] })
  })

  it('requires type and status of conditions [S65]', () => {
    expect(statusErrors({ conditions: [{ type: 'Resizing', status: 'True' }] })).toEqual([])
    expect(statusErrors({ conditions: [{ type: '', status: '' }] })).toEqual([
      'status.conditions[0].type Required',
      'status.conditions[0].status Required',
    ])
  })

  it('accepts the condition Resizing [S98]', () => {
    const resizing = {
      type: 'Resizing',
      status: 'True',
      lastTransitionTime: '2024-01-01T00:00:00Z',
      reason: 'started',
      message: 'm',
    }
    for (const type of ['ResizeStarted', 'Resizing', 'FileSystemResizePending'])
      expect(statusErrors({ phase: 'Bound', conditions: [{ ...resizing, type }] }), type).toEqual([])
    const read = PersistentVolumeClaim.decode({ ...claim(), status: { conditions: [{ ...resizing, type: 'ResizeStarted' }] } })
    expect(read.status?.conditions?.[0]).toMatchObject({ type: 'ResizeStarted', status: 'True' })
  })
})
