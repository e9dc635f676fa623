import { describe, expect, it } from 'vitest'
import { PersistentVolume, type PersistentVolumeSpec } from '../../group-versions/core-v1.generated.ts'
import { runPreparation } from '../../preparation.ts'
import { persistentVolumeStrategy as strategy } from '../core/persistent-volume/strategy.ts'
import { testContext } from '../testing/context.ts'
import { faults } from '../testing/objects.ts'

/** PersistentVolume. @see Configuration and storage specification, 2.5 */

const base: PersistentVolumeSpec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } }

function volume(spec: PersistentVolumeSpec = {}): PersistentVolume {
  const source = Object.keys(spec).some((name) => sources.has(name)) ? {} : { hostPath: { path: '/a' } }
  return PersistentVolume.create({
    metadata: { name: 'v', uid: 'u', resourceVersion: '1' },
    spec: { ...base, ...source, ...spec },
  })
}

const sources = new Set([
  'nfs',
  'iscsi',
  'fc',
  'flexVolume',
  'csi',
  'local',
  'hostPath',
  'azureFile',
  'glusterfs',
  'cinder',
  'storageos',
])
  .add('rbd')
  .add('cephfs')
  .add('scaleIO')
  .add('awsElasticBlockStore')
const wrong = (spec: object) =>
  [...new Set(faults(PersistentVolume.validate(volume(spec as PersistentVolumeSpec))))].map((fault) =>
    fault.replace(/^spec\./, ''),
  )
const whole = (spec: object) => PersistentVolume.default(volume(spec as PersistentVolumeSpec)).spec
const secret = { name: 's', namespace: 'n' }
const affinity = { required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: ['a'] }] }] } }

describe('persistent volumes', () => {
  it('require access modes and a capacity [S66]', () => {
    expect(wrong({ accessModes: [] })).toEqual(['accessModes Required'])
    expect(wrong({ accessModes: ['Never'] })).toEqual(['accessModes NotSupported'])
    expect(wrong({ capacity: {} })).toEqual(['capacity Required', 'capacity NotSupported'])
    expect(wrong({ capacity: { storage: '0' } })).toEqual(['capacity[storage] Invalid'])
    expect(wrong({ capacity: { storage: '1Gi', cpu: '1' } })).toEqual(['capacity NotSupported'])
    expect(wrong({ accessModes: ['ReadWriteMany', 'ReadOnlyMany'], capacity: { storage: '1Ti' } })).toEqual([])
  })

  it('accept a claimRef [S67]', () => {
    const claimRef = {
      kind: 'PersistentVolumeClaim',
      apiVersion: 'v1',
      namespace: 'n',
      name: 'c',
      uid: 'u',
      resourceVersion: '3',
    }
    expect(whole({ claimRef })?.claimRef).toEqual(claimRef)
    const old = volume()
    expect(PersistentVolume.validateUpdate(volume({ claimRef }), old)).toEqual([])
    expect(PersistentVolume.validateUpdate(old, volume({ claimRef }))).toEqual([])
  })

  it('do not validate mount options [S68]', () => {
    const mountOptions = ['hard', 'no such option', '']
    expect([wrong({ mountOptions }), whole({ mountOptions })?.mountOptions]).toEqual([[], mountOptions])
  })

  it('require terms of node affinity, which may be empty and then match nothing [S69]', () => {
    expect(wrong({ nodeAffinity: affinity })).toEqual([])
    expect(wrong({ nodeAffinity: {} })).toEqual(['nodeAffinity.required Required'])
    expect(wrong({ nodeAffinity: { required: { nodeSelectorTerms: [] } } })).toEqual([
      'nodeAffinity.required.nodeSelectorTerms Required',
    ])
    expect(wrong({ nodeAffinity: { required: { nodeSelectorTerms: [{}] } } })).toEqual([])
    const field = { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }
    expect(wrong({ nodeAffinity: { required: { nodeSelectorTerms: [field] } } })).toEqual([])
    const late = volume({ nodeAffinity: affinity })
    expect(PersistentVolume.validateUpdate(late, volume())).toEqual([])
    expect(faults(PersistentVolume.validateUpdate(volume(), late))).toEqual(['nodeAffinity Invalid'])
  })

  it('default the reclaim policy to Retain and accept the others [S70]', () => {
    expect(whole({})?.persistentVolumeReclaimPolicy).toBe('Retain')
    for (const persistentVolumeReclaimPolicy of ['Retain', 'Delete', 'Recycle'])
      expect(wrong({ persistentVolumeReclaimPolicy })).toEqual([])
    expect(wrong({ persistentVolumeReclaimPolicy: 'Burn' })).toEqual(['persistentVolumeReclaimPolicy NotSupported'])
    const warnings = strategy.warnings?.(
      PersistentVolume.default(volume({ persistentVolumeReclaimPolicy: 'Recycle' })),
      undefined,
      testContext(),
    )
    expect(warnings?.join()).toContain('Recycle reclaim policy is deprecated')
    expect(wrong({ persistentVolumeReclaimPolicy: 'Recycle', hostPath: { path: '/' } })).toEqual([
      'persistentVolumeReclaimPolicy Forbidden',
    ])
  })

  it('default to no storage class [S72]', () => {
    expect([wrong({ storageClassName: '' }), wrong({ storageClassName: 'A' })]).toEqual([[], ['storageClassName Invalid']])
    expect(whole({})).not.toHaveProperty('storageClassName')
  })

  it('default volumeMode to Filesystem and keep it immutable [S73]', () => {
    expect([whole({})?.volumeMode, whole({ volumeMode: 'Block' })?.volumeMode]).toEqual(['Filesystem', 'Block'])
    expect(wrong({ volumeMode: 'Tape' })).toEqual(['volumeMode NotSupported'])
    const old = PersistentVolume.default(volume())
    expect(faults(PersistentVolume.validateUpdate(volume({ volumeMode: 'Block' }), old))).toEqual(['volumeMode Invalid'])
  })

  it('accept hostPath, and local with node affinity [S74]', () => {
    expect(wrong({ hostPath: {} })).toEqual(['hostPath.path Required'])
    expect(whole({ hostPath: { path: '/a' } })?.hostPath).toEqual({ path: '/a', type: '' })
    expect(wrong({ local: {}, nodeAffinity: affinity })).toEqual(['local.path Required'])
    expect(wrong({ local: { path: '/a' } })).toEqual(['nodeAffinity Required'])
    expect(wrong({ local: { path: '/a', fsType: 'xfs' }, nodeAffinity: affinity })).toEqual([])
    expect(wrong({ local: { path: '/a/../b' }, nodeAffinity: affinity })).toEqual(['local.path Invalid'])
  })

  it('accept csi with a driver, a handle and secrets of any namespace [S75]', () => {
    expect(wrong({ csi: {} })).toEqual(['csi.driver Required', 'csi.driver Invalid', 'csi.volumeHandle Required'])
    const refs = [
      'controllerPublishSecretRef',
      'nodeStageSecretRef',
      'nodePublishSecretRef',
      'controllerExpandSecretRef',
      'nodeExpandSecretRef',
    ]
    const csi = { driver: 'd', volumeHandle: 'h', readOnly: true, fsType: 'xfs', volumeAttributes: { a: 'b' } }
    const all = { ...csi, ...Object.fromEntries(refs.map((ref) => [ref, secret])) }
    expect([wrong({ csi: all }), whole({ csi: all })?.csi]).toEqual([[], all])
    for (const ref of refs.filter((name) => name !== 'nodeStageSecretRef'))
      expect(wrong({ csi: { ...csi, [ref]: {} } }), ref).toEqual([`csi.${ref}.name Required`, `csi.${ref}.namespace Required`])
    const old = volume({ csi })
    expect(PersistentVolume.validateUpdate(volume({ csi: { ...csi, controllerExpandSecretRef: secret } }), old)).toEqual([])
    expect(faults(PersistentVolume.validateUpdate(volume({ csi: { ...csi, volumeHandle: 'other' } }), old))).toEqual([
      'spec.persistentvolumesource Forbidden',
    ])
  })

  it('accept nfs, iscsi, fc and flexVolume, with secrets of any namespace [S76]', () => {
    expect(wrong({ nfs: { server: 's', path: 'relative' } })).toEqual(['nfs.path Invalid'])
    const iscsi = { targetPortal: 'p:1', iqn: 'iqn.2001-04.com.example:d', lun: 0 }
    expect(whole({ iscsi: { ...iscsi, secretRef: secret } })?.iscsi).toEqual({
      ...iscsi,
      iscsiInterface: 'default',
      secretRef: secret,
    })
    expect(wrong({ iscsi: { ...iscsi, secretRef: { namespace: 'n' } } })).toEqual(['iscsi.secretRef.name Required'])
    expect(wrong({ iscsi: { targetPortal: 'p:1', iqn: iscsi.iqn } })).toEqual(['iscsi.lun Required'])
    const named = { ...iscsi, initiatorName: iscsi.iqn }
    expect(wrong({ iscsi: named })).toEqual([])
    expect(wrong({ iscsi: { ...named, targetPortal: 'p'.repeat(64) } })).toEqual(['iscsi.targetportal Invalid'])
    expect([wrong({ fc: { wwids: ['w'] } }), wrong({ fc: {} })]).toEqual([[], ['fc.targetWWNs Required']])
    const flexVolume = { driver: 'd', secretRef: secret, options: { a: 'b' } }
    expect([wrong({ flexVolume }), whole({ flexVolume })?.flexVolume]).toEqual([[], flexVolume])
  })

  it('accept vendor sources with namespaces [S77]', () => {
    const azureFile = { secretName: 's', shareName: 'n', secretNamespace: 'ns' }
    expect([wrong({ azureFile }), whole({ azureFile })?.azureFile]).toEqual([[], azureFile])
    expect(wrong({ azureFile: { ...azureFile, secretNamespace: '' } })).toEqual(['azureFile.secretNamespace Required'])
    const glusterfs = { endpoints: 'e', path: 'p', endpointsNamespace: 'ns' }
    expect([wrong({ glusterfs }), whole({ glusterfs })?.glusterfs]).toEqual([[], glusterfs])
    expect(wrong({ glusterfs: { ...glusterfs, endpointsNamespace: 'A' } })).toEqual(['glusterfs.endpointsNamespace Invalid'])
    for (const source of [
      { rbd: { monitors: ['m'], image: 'i' } },
      { cephfs: { monitors: ['m'] } },
      { cinder: { volumeID: 'v' } },
    ]) {
      const [name, members] = Object.entries(source)[0]!
      expect(wrong({ [name]: { ...members, secretRef: secret } }), name).toEqual([])
    }
    expect(wrong({ cinder: { volumeID: 'v', secretRef: { name: 's' } } })).toEqual(['cinder.secretRef.namespace Required'])
    expect(wrong({ storageos: { volumeName: 'v', secretRef: { name: 's' } } })).toEqual([
      'storageos.secretRef.namespace Required',
    ])
    for (const source of [{ cinder: { volumeID: 'v' } }, { storageos: { volumeName: 'v' } }]) {
      const [name, members] = Object.entries(source)[0]!
      expect(wrong({ [name]: { ...members, secretRef: { name: 'a-', namespace: 'b_' } } }), name).toEqual([])
    }
    expect(wrong({ scaleIO: { gateway: 'g', system: 's' } })).toEqual(['scaleIO.secretRef Required'])
    expect(whole({ awsElasticBlockStore: { volumeID: 'v' } })?.awsElasticBlockStore).toEqual({ volumeID: 'v', fsType: 'ext4' })
  })

  it('take phase, message and reason from the status sub-resource only [S78]', () => {
    const context = testContext()
    const given = { ...volume(), status: { phase: 'Bound', message: 'm', reason: 'r' } }
    const made = PersistentVolume.default(given)
    runPreparation(strategy.prepareForCreate?.(made, context))
    expect(made.status).toMatchObject({ phase: 'Pending' })
    expect(made.status).not.toHaveProperty('reason')
    const next = structuredClone(given)
    runPreparation(strategy.prepareForUpdate?.(next, made, context))
    expect(next.status).toEqual(made.status)
    const draft = { ...given, spec: {} }
    runPreparation(strategy.subresources?.['status']?.prepareForUpdate(draft, made, context))
    expect([draft.spec, draft.status]).toMatchObject([made.spec, { phase: 'Bound', message: 'm', reason: 'r' }])
  })
})
