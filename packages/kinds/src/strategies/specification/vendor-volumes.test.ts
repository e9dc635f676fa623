import { describe, expect, it } from 'vitest'
import { volumeFaults, withDefaults } from '../testing/objects.ts'

/** Vendor volumes. @see Configuration and storage specification, 2.3, second table */

/** Expects a complete source: valid and without further defaults. */
function expectWhole(source: object): void {
  expect(volumeFaults(source)).toEqual([])
  expect(withDefaults(source)).toEqual(source)
}

describe('vendor volumes', () => {
  it('awsElasticBlockStore requires an id and defaults to ext4 [S39]', () => {
    expect(volumeFaults({ awsElasticBlockStore: {} })).toEqual(['awsElasticBlockStore.volumeID Required'])
    expect(withDefaults({ awsElasticBlockStore: { volumeID: 'v' } })).toEqual({
      awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4' },
    })
    expectWhole({ awsElasticBlockStore: { volumeID: 'v', fsType: 'xfs', partition: 255, readOnly: true } })
    for (const partition of [-1, 256])
      expect(volumeFaults({ awsElasticBlockStore: { volumeID: 'v', partition } })).toEqual([
        'awsElasticBlockStore.partition Invalid',
      ])
  })

  it('azureDisk requires a name and a URI matching its kind [S40]', () => {
    const disk = { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' }
    expect(volumeFaults({ azureDisk: {} })).toEqual([
      'azureDisk.diskName Required',
      'azureDisk.diskURI Required',
      'azureDisk.diskURI NotSupported',
    ])
    expect(withDefaults({ azureDisk: disk })).toEqual({
      azureDisk: { ...disk, cachingMode: 'ReadWrite', fsType: 'ext4', readOnly: false, kind: 'Shared' },
    })
    for (const cachingMode of ['None', 'ReadOnly', 'ReadWrite'])
      expect(volumeFaults({ azureDisk: { ...disk, cachingMode } })).toEqual([])
    expect(volumeFaults({ azureDisk: { ...disk, cachingMode: 'Read Only' } })).toEqual(['azureDisk.cachingMode NotSupported'])
    expect(volumeFaults({ azureDisk: { ...disk, kind: 'Dedicated' } })).toEqual([])
    expect(volumeFaults({ azureDisk: { ...disk, kind: 'Private' } })).toEqual(['azureDisk.kind NotSupported'])
    expect(volumeFaults({ azureDisk: { ...disk, kind: 'Managed' } })).toEqual(['azureDisk.diskURI NotSupported'])
    expect(volumeFaults({ azureDisk: { diskName: 'd', diskURI: '/subscriptions/s', kind: 'Managed' } })).toEqual([])
  })

  it('azureFile requires a secret and a share name [S41]', () => {
    expect(volumeFaults({ azureFile: {} })).toEqual(['azureFile.secretName Required', 'azureFile.shareName Required'])
    expectWhole({ azureFile: { secretName: 's', shareName: 'n', readOnly: true } })
  })

  it('gcePersistentDisk requires a name [S42]', () => {
    expect(volumeFaults({ gcePersistentDisk: {} })).toEqual(['persistentDisk.pdName Required'])
    expect(volumeFaults({ gcePersistentDisk: { pdName: 'p', partition: 256 } })).toEqual(['persistentDisk.partition Invalid'])
    expectWhole({ gcePersistentDisk: { pdName: 'p', fsType: 'ext4', partition: 1, readOnly: true } })
  })

  it('cephfs requires monitors, glusterfs endpoints and a path [S43]', () => {
    expect(volumeFaults({ cephfs: {} })).toEqual(['cephfs.monitors Required'])
    expectWhole({ cephfs: { monitors: ['m'], path: '/', user: 'u', secretFile: '/f', secretRef: { name: 's' }, readOnly: true } })
    expect(volumeFaults({ glusterfs: {} })).toEqual(['glusterfs.endpoints Required', 'glusterfs.path Required'])
    expectWhole({ glusterfs: { endpoints: 'e', path: 'p', readOnly: true } })
  })

  it('cinder requires an id [S44]', () => {
    expect(volumeFaults({ cinder: {} })).toEqual(['cinder.volumeID Required'])
    expect(volumeFaults({ cinder: { volumeID: 'v', secretRef: {} } })).toEqual(['cinder.secretRef.name Required'])
    expectWhole({ cinder: { volumeID: 'v', fsType: 'ext4', readOnly: true, secretRef: { name: 's' } } })
  })

  it('rbd requires monitors and an image [S45]', () => {
    expect(volumeFaults({ rbd: {} })).toEqual(['rbd.monitors Required', 'rbd.image Required'])
    const device = { monitors: ['m'], image: 'i' }
    expect(withDefaults({ rbd: device })).toEqual({
      rbd: { ...device, pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' },
    })
    expectWhole({
      rbd: { ...device, fsType: 'ext4', pool: 'p', user: 'u', keyring: '/k', secretRef: { name: 's' }, readOnly: true },
    })
  })

  it('flocker requires exactly one of its two names [S46]', () => {
    expect(volumeFaults({ flocker: {} })).toEqual(['flocker Required'])
    expect(volumeFaults({ flocker: { datasetName: 'n', datasetUUID: 'u' } })).toEqual(['flocker Invalid'])
    expect(volumeFaults({ flocker: { datasetName: 'a/b' } })).toEqual(['flocker.datasetName Invalid'])
    expectWhole({ flocker: { datasetName: 'n' } })
    expectWhole({ flocker: { datasetUUID: 'u' } })
  })

  it('photonPersistentDisk requires an id [S47]', () => {
    expect(volumeFaults({ photonPersistentDisk: {} })).toEqual(['photonPersistentDisk.pdID Required'])
    expectWhole({ photonPersistentDisk: { pdID: 'p', fsType: 'ext4' } })
  })

  it('portworxVolume requires an id [S48]', () => {
    expect(volumeFaults({ portworxVolume: {} })).toEqual(['portworxVolume.volumeID Required'])
    expectWhole({ portworxVolume: { volumeID: 'v', fsType: 'ext4', readOnly: true } })
  })

  it('quobyte requires a registry and a volume [S49]', () => {
    expect(volumeFaults({ quobyte: {} })).toEqual(['quobyte.registry Required', 'quobyte.volume Required'])
    expect(volumeFaults({ quobyte: { registry: 'host', volume: 'v' } })).toEqual(['quobyte.registry Invalid'])
    expectWhole({ quobyte: { registry: 'a:1,b:2', volume: 'v', readOnly: true, user: 'u', group: 'g', tenant: 't' } })
  })

  it('scaleIO requires gateway, system and secret, and defaults to thin and xfs [S50]', () => {
    expect(volumeFaults({ scaleIO: {} })).toEqual([
      'scaleIO.gateway Required',
      'scaleIO.system Required',
      'scaleIO.secretRef Required',
    ])
    const scale = { gateway: 'g', system: 's', secretRef: { name: 's' } }
    expect(volumeFaults({ scaleIO: scale })).toEqual([])
    expect(withDefaults({ scaleIO: scale })).toEqual({ scaleIO: { ...scale, storageMode: 'ThinProvisioned', fsType: 'xfs' } })
    expect(volumeFaults({ scaleIO: { ...scale, storageMode: 'ThickProvisioned' } })).toEqual([])
    expect(volumeFaults({ scaleIO: { ...scale, storageMode: 'Fat' } })).toEqual(['scaleIO.storageMode NotSupported'])
    const more = { sslEnabled: true, protectionDomain: 'd', storagePool: 'p', volumeName: 'v', readOnly: true }
    expectWhole({ scaleIO: { ...scale, ...more, storageMode: 'ThickProvisioned', fsType: 'ext4' } })
  })

  it('storageos accepts a name and a namespace that are DNS labels [S51]', () => {
    expect(volumeFaults({ storageos: {} })).toEqual([])
    expect(volumeFaults({ storageos: { volumeName: 'A' } })).toEqual(['storageos.volumeName Invalid'])
    expect(volumeFaults({ storageos: { volumeName: 'v', volumeNamespace: 'a.b' } })).toEqual([
      'storageos.volumeNamespace Invalid',
    ])
    expect(volumeFaults({ storageos: { volumeName: 'v', secretRef: {} } })).toEqual(['storageos.secretRef.name Required'])
    expectWhole({
      storageos: { volumeName: 'v', volumeNamespace: 'n', fsType: 'ext4', readOnly: true, secretRef: { name: 's' } },
    })
  })

  it('vsphereVolume requires a path [S52]', () => {
    expect(volumeFaults({ vsphereVolume: {} })).toEqual(['vsphereVolume.volumePath Required'])
    expectWhole({ vsphereVolume: { volumePath: 'p', fsType: 'ext4', storagePolicyName: 'n', storagePolicyID: 'i' } })
  })

  it('gitRepo requires a directory within the volume [S53]', () => {
    expect(volumeFaults({ gitRepo: {} })).toEqual(['gitRepo.repository Required'])
    for (const directory of ['/a', '../a', 'a/../b'])
      expect(volumeFaults({ gitRepo: { repository: 'r', directory } }), directory).toEqual(['gitRepo.directory Invalid'])
    expectWhole({ gitRepo: { repository: 'r', revision: 'v', directory: 'd' } })
  })
})
