import { resourceType } from '@krmkit/client'
import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { bindPod, pods, startWith } from './workloads.fixture.ts'

interface Stored extends ApiObject {
  spec?: { volumeName?: string; capacity?: object; attacher?: string; nodeName?: string; [member: string]: unknown }
  status?: { phase?: string; capacity?: object; attached?: boolean; volumesAttached?: object[] }
}

const core = { group: '', version: 'v1' }
const storage = { group: 'storage.k8s.io', version: 'v1', namespaced: false }
const claims = resourceType<Stored>({ ...core, resource: 'persistentvolumeclaims', kind: 'PersistentVolumeClaim' })
const volumes = resourceType<Stored>({ ...core, resource: 'persistentvolumes', kind: 'PersistentVolume', namespaced: false })
const nodes = resourceType<Stored>({ ...core, resource: 'nodes', kind: 'Node', namespaced: false })
const attachments = resourceType<Stored>({ ...storage, resource: 'volumeattachments', kind: 'VolumeAttachment' })

function storageClass(spec: object = {}): ApiObject {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'fast' },
    provisioner: 'disk.example.com',
    allowVolumeExpansion: true,
    ...spec,
  }
}

const claim: ApiObject = {
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'default' },
  spec: { storageClassName: 'fast', accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
}
const node: ApiObject = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1' } }
const pod: ApiObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', namespace: 'default' },
  spec: {
    containers: [{ name: 'c', image: 'web:1' }],
    volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }],
  },
}

const controllers = ['*', 'volume-simulator', 'persistentvolume-attach-detach-controller', 'persistentvolume-expander-controller']
const start = (...seed: ApiObject[]) => startWith(controllers, seed)
const claimOf = ({ client }: TestServer) => client.get(claims, 'data')

describe('volume simulator', () => {
  it('provisions a volume for a claim and deletes it with the claim', async () => {
    await using server = await start(storageClass(), claim)
    const { metadata, spec, status } = await claimOf(server)
    expect([status?.phase, spec?.volumeName, status?.capacity]).toEqual(['Bound', `pvc-${metadata.uid}`, { storage: '1Gi' }])
    const volume = await server.client.get(volumes, `pvc-${metadata.uid}`)
    expect(volume.spec).toMatchObject({
      csi: { driver: 'disk.example.com', volumeHandle: `pvc-${metadata.uid}` },
      persistentVolumeReclaimPolicy: 'Delete',
      storageClassName: 'fast',
    })
    await server.client.delete(claims, 'data')
    await server.settle()
    expect((await server.client.list(volumes)).items).toEqual([])
  })

  it('provisions a path on the node when the provisioner cannot be a CSI driver', async () => {
    await using server = await start(storageClass({ provisioner: 'example.com/nfs' }), claim)
    const { spec, status } = await claimOf(server)
    const volume = await server.client.get(volumes, spec?.volumeName ?? '')
    expect([status?.phase, volume.spec?.['hostPath']]).toEqual([
      'Bound',
      { path: `/var/lib/volumes/${spec?.volumeName}`, type: '' },
    ])
  })

  it('waits for the node of the first consumer', async () => {
    await using server = await start(storageClass({ volumeBindingMode: 'WaitForFirstConsumer' }), claim, pod)
    expect((await claimOf(server)).status?.phase).toBe('Pending')
    const annotations = { 'volume.kubernetes.io/selected-node': 'node-1' }
    await server.client.patch(claims, 'data', { type: 'merge', patch: { metadata: { annotations } } })
    await server.settle()
    expect((await claimOf(server)).status?.phase).toBe('Bound')
  })

  it('resizes volumes', async () => {
    await using server = await start(storageClass(), claim)
    const patch = { spec: { resources: { requests: { storage: '5Gi' } } } }
    await server.client.patch(claims, 'data', { type: 'merge', patch })
    await server.settle()
    const { spec, status } = await claimOf(server)
    expect(status?.capacity).toEqual({ storage: '5Gi' })
    expect((await server.client.get(volumes, spec?.volumeName ?? '')).spec?.capacity).toEqual({ storage: '5Gi' })
  })

  it('attaches volumes to the nodes of their pods, and detaches them', async () => {
    await using server = await start(storageClass(), claim, node, pod)
    await bindPod(server, 'a', 'node-1')
    await server.settle()
    const { spec } = await claimOf(server)
    const [attachment, ...others] = (await server.client.list(attachments)).items
    expect([others, attachment]).toMatchObject([
      [],
      {
        metadata: { name: expect.stringMatching(/^csi-[0-9a-f]{64}$/) },
        spec: { attacher: 'disk.example.com', nodeName: 'node-1', source: { persistentVolumeName: spec?.volumeName } },
        status: { attached: true },
      },
    ])
    expect((await server.client.get(nodes, 'node-1')).status?.volumesAttached).toEqual([
      { name: `kubernetes.io/csi/disk.example.com^${spec?.volumeName}`, devicePath: '' },
    ])
    await server.client.delete(pods, 'a', { gracePeriodSeconds: 0 })
    await server.settle()
    expect((await server.client.list(attachments)).items).toEqual([])
    expect((await server.client.get(nodes, 'node-1')).status?.volumesAttached).toBeUndefined()
  })

  it('does not attach a volume that does not exist or belongs to another driver', async () => {
    await using server = await start(node)
    const attach = async (name: string, persistentVolumeName: string) => {
      const spec = { attacher: 'disk.example.com', nodeName: 'node-1', source: { persistentVolumeName } }
      await server.client.create(attachments, { metadata: { name }, spec })
    }
    const volume = async (name: string, driver: string) => {
      const spec = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], csi: { driver, volumeHandle: name } }
      await server.client.create(volumes, { metadata: { name }, spec })
    }
    const attached = async () => {
      await server.settle()
      const { items } = await server.client.list(attachments)
      return items.filter(({ status }) => status?.attached === true).map(({ metadata }) => metadata.name)
    }
    await attach('early', 'late')
    await attach('foreign', 'elsewhere')
    await volume('elsewhere', 'other.example.com')
    expect(await attached()).toEqual([])
    await volume('late', 'disk.example.com')
    expect(await attached()).toEqual(['early'])
  })

  it('keeps attachments requested by other clients', async () => {
    await using server = await start(storageClass(), claim, node, pod)
    const spec = { attacher: 'disk.example.com', nodeName: 'node-1', source: { persistentVolumeName: 'elsewhere' } }
    await server.client.create(attachments, { metadata: { name: 'theirs' }, spec })
    await server.settle()
    expect((await server.client.list(attachments)).items.map(({ metadata }) => metadata.name)).toEqual(['theirs'])
  })
})
