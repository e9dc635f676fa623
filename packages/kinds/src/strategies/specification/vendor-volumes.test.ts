import { describe, expect, it } from 'vitest'
import { completed, volumeFaults } from '../testing/objects.ts'

/** Volumes of vendors. @see Configuration and storage specification, 2.3, second table */

/** A source that is complete: nothing is wrong with it, and nothing is added. */
function expectWhole(source: object): void {
  expect(volumeFaults(source)).toEqual([])
  expect(completed(source)).toEqual(source)
}

describe('vendor volumes', () => {
  it('S39 the block disk of a cloud has an id, and ext4 unless it says otherwise', () => {
    expect(volumeFaults({ awsElasticBlockStore: {} })).toEqual(['awsElasticBlockStore.volumeID Required'])
    expect(completed({ awsElasticBlockStore: { volumeID: 'v' } })).toEqual({
      awsElasticBlockStore: { volumeID: 'v', fsType: 'ext4' },
    })
    expectWhole({ awsElasticBlockStore: { volumeID: 'v', fsType: 'xfs', partition: 255, readOnly: true } })
    for (const partition of [-1, 256])
      expect(volumeFaults({ awsElasticBlockStore: { volumeID: 'v', partition } })).toEqual([
        'awsElasticBlockStore.partition Invalid',
      ])
  })

  it('S40 the data disk of another has a name and an address of its kind', () => {
    const disk = { diskName: 'd', diskURI: 'https://a.blob.core.windows.net/c/d.vhd' }
    expect(volumeFaults({ azureDisk: {} })).toEqual([
      'azureDisk.diskName Required',
      'azureDisk.diskURI Required',
      'azureDisk.diskURI NotSupported',
    ])
    expect(completed({ azureDisk: disk })).toEqual({
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

  it('S41 its file share has a secret and a name', () => {
    expect(volumeFaults({ azureFile: {} })).toEqual(['azureFile.secretName Required', 'azureFile.shareName Required'])
    expectWhole({ azureFile: { secretName: 's', shareName: 'n', readOnly: true } })
  })

  it('S42 the persistent disk of a third has a name', () => {
    expect(volumeFaults({ gcePersistentDisk: {} })).toEqual(['gcePersistentDisk.pdName Required'])
    expect(volumeFaults({ gcePersistentDisk: { pdName: 'p', partition: 256 } })).toEqual(['gcePersistentDisk.partition Invalid'])
    expectWhole({ gcePersistentDisk: { pdName: 'p', fsType: 'ext4', partition: 1, readOnly: true } })
  })

  it('S43 distributed file systems have monitors, or endpoints and a path', () => {
    expect(volumeFaults({ cephfs: {} })).toEqual(['cephfs.monitors Required'])
    expectWhole({ cephfs: { monitors: ['m'], path: '/', user: 'u', secretFile: '/f', secretRef: { name: 's' }, readOnly: true } })
    expect(volumeFaults({ glusterfs: {} })).toEqual(['glusterfs.endpoints Required', 'glusterfs.path Required'])
    expectWhole({ glusterfs: { endpoints: 'e', path: 'p', readOnly: true } })
  })

  it('S44 a block service has an id', () => {
    expect(volumeFaults({ cinder: {} })).toEqual(['cinder.volumeID Required'])
    expect(volumeFaults({ cinder: { volumeID: 'v', secretRef: {} } })).toEqual(['cinder.secretRef.name Required'])
    expectWhole({ cinder: { volumeID: 'v', fsType: 'ext4', readOnly: true, secretRef: { name: 's' } } })
  })

  it('S45 a replicated block device has monitors and an image', () => {
    expect(volumeFaults({ rbd: {} })).toEqual(['rbd.monitors Required', 'rbd.image Required'])
    const device = { monitors: ['m'], image: 'i' }
    expect(completed({ rbd: device })).toEqual({ rbd: { ...device, pool: 'rbd', user: 'admin', keyring: '/etc/ceph/keyring' } })
    expectWhole({
      rbd: { ...device, fsType: 'ext4', pool: 'p', user: 'u', keyring: '/k', secretRef: { name: 's' }, readOnly: true },
    })
  })

  it('S46 a dataset is named in one of two ways', () => {
    expect(volumeFaults({ flocker: {} })).toEqual(['flocker Required'])
    expect(volumeFaults({ flocker: { datasetName: 'n', datasetUUID: 'u' } })).toEqual(['flocker Invalid'])
    expect(volumeFaults({ flocker: { datasetName: 'a/b' } })).toEqual(['flocker.datasetName Invalid'])
    expectWhole({ flocker: { datasetName: 'n' } })
    expectWhole({ flocker: { datasetUUID: 'u' } })
  })

  it('S47 the disk of a controller has an id', () => {
    expect(volumeFaults({ photonPersistentDisk: {} })).toEqual(['photonPersistentDisk.pdID Required'])
    expectWhole({ photonPersistentDisk: { pdID: 'p', fsType: 'ext4' } })
  })

  it('S48 a clustered volume has an id', () => {
    expect(volumeFaults({ portworxVolume: {} })).toEqual(['portworxVolume.volumeID Required'])
    expectWhole({ portworxVolume: { volumeID: 'v', fsType: 'ext4', readOnly: true } })
  })

  it('S49 the volume of a registry names both', () => {
    expect(volumeFaults({ quobyte: {} })).toEqual(['quobyte.registry Required', 'quobyte.volume Required'])
    expect(volumeFaults({ quobyte: { registry: 'host', volume: 'v' } })).toEqual(['quobyte.registry Invalid'])
    expectWhole({ quobyte: { registry: 'a:1,b:2', volume: 'v', readOnly: true, user: 'u', group: 'g', tenant: 't' } })
  })

  it('S50 a scale volume has a gateway, a system and a secret; thin and xfs unless it says otherwise', () => {
    expect(volumeFaults({ scaleIO: {} })).toEqual([
      'scaleIO.gateway Required',
      'scaleIO.system Required',
      'scaleIO.secretRef Required',
    ])
    const scale = { gateway: 'g', system: 's', secretRef: { name: 's' } }
    expect(volumeFaults({ scaleIO: scale })).toEqual([])
    expect(completed({ scaleIO: scale })).toEqual({ scaleIO: { ...scale, storageMode: 'ThinProvisioned', fsType: 'xfs' } })
    expect(volumeFaults({ scaleIO: { ...scale, storageMode: 'ThickProvisioned' } })).toEqual([])
    expect(volumeFaults({ scaleIO: { ...scale, storageMode: 'Fat' } })).toEqual(['scaleIO.storageMode NotSupported'])
    const more = { sslEnabled: true, protectionDomain: 'd', storagePool: 'p', volumeName: 'v', readOnly: true }
    expectWhole({ scaleIO: { ...scale, ...more, storageMode: 'ThickProvisioned', fsType: 'ext4' } })
  })

  it('S51 the volume of a storage platform may have a name and a namespace, DNS labels', () => {
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

  it('S52 a virtual disk has a path', () => {
    expect(volumeFaults({ vsphereVolume: {} })).toEqual(['vsphereVolume.volumePath Required'])
    expectWhole({ vsphereVolume: { volumePath: 'p', fsType: 'ext4', storagePolicyName: 'n', storagePolicyID: 'i' } })
  })

  it('S53 the checkout of a repository stays inside of its volume', () => {
    expect(volumeFaults({ gitRepo: {} })).toEqual(['gitRepo.repository Required'])
    for (const directory of ['/a', '../a', 'a/../b'])
      expect(volumeFaults({ gitRepo: { repository: 'r', directory } }), directory).toEqual(['gitRepo.directory Invalid'])
    expectWhole({ gitRepo: { repository: 'r', revision: 'v', directory: 'd' } })
  })
})
