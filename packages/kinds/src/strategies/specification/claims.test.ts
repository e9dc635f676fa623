import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../catalog/catalog.ts'
import {
  PersistentVolumeClaim,
  type PersistentVolumeClaimSpec,
  type PersistentVolumeClaimStatus,
} from '../../handles/core-v1.generated.ts'
import type { StrategyContext } from '../../interfaces.ts'
import { persistentVolumeClaimStrategy as strategy } from '../core/persistent-volume-claim/strategy.ts'
import { testContext } from '../testing/context.ts'
import { faults } from '../testing/objects.ts'

/** What is requested of storage. @see Configuration and storage specification, 2.4 and 3 */

const base: PersistentVolumeClaimSpec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }

function claim(spec: PersistentVolumeClaimSpec = {}, status?: PersistentVolumeClaimStatus): PersistentVolumeClaim {
  return PersistentVolumeClaim.create({
    metadata: { name: 'c', namespace: 'default', uid: 'u', resourceVersion: '1' },
    spec: { ...base, ...spec },
    ...(status === undefined ? {} : { status }),
  })
}

/** A claim as it is after the server has read and prepared it. */
function stored(spec: PersistentVolumeClaimSpec = {}, status?: PersistentVolumeClaimStatus): PersistentVolumeClaim {
  const object = PersistentVolumeClaim.default(claim(spec))
  strategy.prepareForCreate?.(object, testContext())
  return status === undefined ? object : { ...object, status }
}

const requests = (storage: string) => ({ resources: { requests: { storage } } })
const wrong = (spec: PersistentVolumeClaimSpec) => faults(PersistentVolumeClaim.validate(claim(spec)))
const changed = (now: PersistentVolumeClaim, old: PersistentVolumeClaim, context: Partial<StrategyContext> = {}) =>
  faults(PersistentVolumeClaim.validateUpdate(now, old, context))

describe('claims', () => {
  it('S54 have ways of mounting, a selector and a class', () => {
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

  it('S55 ask for storage, more than none', () => {
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

  it('S56 a bound claim may ask for more, and take back what it did not get', () => {
    const old = bound('3Gi')
    expect(changed(asking('5Gi', old), old)).toEqual([])
    expect(changed(asking('2Gi', old), old)).toEqual([])
    for (const less of ['1Gi', '512Mi'])
      expect(changed(asking(less, old), old), less).toEqual(['spec.resources.requests.storage Forbidden'])
    const pending = { ...old, status: { phase: 'Pending' } }
    expect(changed(asking('5Gi', pending), pending)).toEqual(['spec Forbidden'])
  })

  it('S57 the volume is named once, by the claim or by who binds it', () => {
    const free = stored()
    expect(changed({ ...free, spec: { ...free.spec, volumeName: 'v' } }, free)).toEqual([])
    const taken = stored({ volumeName: 'v' })
    expect(changed({ ...taken, spec: { ...taken.spec, volumeName: 'w' } }, taken)).toEqual(['spec Forbidden'])
  })

  it('S58 are file systems unless they say otherwise, for good', () => {
    expect(PersistentVolumeClaim.default(claim()).spec?.volumeMode).toBe('Filesystem')
    expect([wrong({ volumeMode: 'Block' }), wrong({ volumeMode: 'Tape' })]).toEqual([[], ['spec.volumeMode NotSupported']])
    const old = stored()
    expect(changed({ ...old, spec: { ...old.spec, volumeMode: 'Block' } }, old)).toEqual(['spec Forbidden', 'volumeMode Invalid'])
  })

  const other = { kind: 'PersistentVolumeClaim', name: 'other' }
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 's' }

  it('S59 what is copied is said by two members that mirror each other', () => {
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

  it('S60 a kind that cannot be copied is dropped from the one and refused in the other', () => {
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
  const told = (next: PersistentVolumeClaimStatus) =>
    faults(status?.validateUpdate({ ...stored(), status: next }, stored(), context) ?? [])

  it('S61 is not written by clients', () => {
    const made = PersistentVolumeClaim.default(claim({}, { phase: 'Bound', capacity: { storage: '9Gi' } }))
    strategy.prepareForCreate?.(made, context)
    expect(made.status).toEqual({ phase: 'Pending' })
    const next = { ...stored(), status: { phase: 'Lost' } }
    strategy.prepareForUpdate?.(next, stored(), context)
    expect(next.status).toEqual({ phase: 'Pending' })
    expect(strategy.resetFields).toEqual({ '': [['status']], status: [['spec']] })
  })

  it('S62 tells capacity, ways of mounting and phase, and leaves the rest alone', () => {
    const next = {
      ...stored(),
      spec: {},
      status: { phase: 'Bound', capacity: { storage: '2Gi' }, accessModes: ['ReadWriteOnce'] },
    }
    status?.prepareForUpdate(next, stored(), context)
    expect(next.spec).toEqual(stored().spec)
    expect(told(next.status)).toEqual([])
    expect(told({ capacity: { storage: '-1' } })).toEqual(['status.capacity[storage] Invalid'])
  })

  it('S63 tells what is set aside for growth, and how far it is', () => {
    expect(told({ allocatedResources: { storage: '2Gi' }, allocatedResourceStatuses: { storage: 'NodeResizePending' } })).toEqual(
      [],
    )
    expect(told({ allocatedResources: { storage: '-1' } })).toEqual(['status.allocatedResources[storage] Invalid'])
    expect(told({ allocatedResources: { cpu: '1' } })).toEqual(['status.allocatedResources NotSupported'])
    expect(told({ allocatedResourceStatuses: { storage: 'Sometime' } })).toEqual(['status.allocatedResourceStatus NotSupported'])
    expect(told({ allocatedResources: { 'example.com/part': '1' } })).toEqual([])
  })

  it('S64 has one condition of each type', () => {
    const conditions = createCatalog().types.struct('core/v1.PersistentVolumeClaimStatus').field.get('conditions')
    expect(conditions).toMatchObject({ patchMergeKey: 'type', patchStrategy: 'merge', listType: 'map', listMapKeys: ['type'] })
  })

  it('S65 its conditions have a type and a status', () => {
    expect(told({ conditions: [{ type: 'Resizing', status: 'True' }] })).toEqual([])
    expect(told({ conditions: [{ type: '', status: '' }] })).toEqual([
      'status.conditions[0].type Required',
      'status.conditions[0].status Required',
    ])
  })

  it('S98 tells that the volume is being resized', () => {
    const resizing = {
      type: 'Resizing',
      status: 'True',
      lastTransitionTime: '2024-01-01T00:00:00Z',
      reason: 'started',
      message: 'm',
    }
    for (const type of ['ResizeStarted', 'Resizing', 'FileSystemResizePending'])
      expect(told({ phase: 'Bound', conditions: [{ ...resizing, type }] }), type).toEqual([])
    const read = PersistentVolumeClaim.decode({ ...claim(), status: { conditions: [{ ...resizing, type: 'ResizeStarted' }] } })
    expect(read.status?.conditions?.[0]).toMatchObject({ type: 'ResizeStarted', status: 'True' })
  })
})
