import { type Client, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { pods } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

interface Stored extends ApiObject {
  spec?: Record<string, unknown>
  status?: { phase?: string; capacity?: object; accessModes?: string[]; message?: string }
}

const cluster = { group: '', version: 'v1', namespaced: false }
const volumes = resourceType<Stored>({ ...cluster, resource: 'persistentvolumes', kind: 'PersistentVolume' })
const claims = resourceType<Stored>({
  group: '',
  version: 'v1',
  resource: 'persistentvolumeclaims',
  kind: 'PersistentVolumeClaim',
})
const classes = resourceType<ApiObject>({
  group: 'storage.k8s.io',
  version: 'v1',
  resource: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
})

function volume(name: string, spec: object = {}): ApiObject {
  const base = { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' }, storageClassName: '' }
  return { apiVersion: 'v1', kind: 'PersistentVolume', metadata: { name }, spec: { ...base, ...spec } }
}

function claim(name: string, spec: object = {}, metadata: object = {}): ApiObject {
  const base = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: '' }
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default', ...metadata },
    spec: { ...base, ...spec },
  }
}

function pod(name: string, parts: object): ApiObject {
  const spec = { containers: [{ name: 'c', image: 'i' }], ...parts }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'default' }, spec }
}

const start = (...seed: ApiObject[]) => createTestServer({ seed })
const phase = async (server: TestServer, of: typeof claims, name: string) => (await server.client.get(of, name)).status?.phase

async function missing(call: Promise<unknown>): Promise<boolean> {
  return call.then(
    () => false,
    (error: unknown) => ApiError.is(error) && error.reason === 'NotFound',
  )
}

/** Takes the object away although something holds it. */
const drop = (client: Client, of: typeof claims, name: string) => client.delete(of, name)

describe('binding', () => {
  it('S97 S57 S67 a volume is available, then bound to the claim that suits it, then released', async () => {
    await using server = await start(volume('big', { capacity: { storage: '5Gi' } }), volume('small'))
    const { client } = server
    await server.settle()
    expect(await phase(server, volumes, 'small')).toBe('Available')

    await client.create(claims, claim('c'))
    await server.settle()
    const bound = await client.get(claims, 'c')
    expect(bound.spec).toMatchObject({ volumeName: 'small' })
    expect(bound.status).toEqual({ phase: 'Bound', accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } })
    expect(bound.metadata.annotations).toEqual({
      'pv.kubernetes.io/bind-completed': 'yes',
      'pv.kubernetes.io/bound-by-controller': 'yes',
    })
    const taken = await client.get(volumes, 'small')
    expect(taken.spec?.['claimRef']).toMatchObject({ kind: 'PersistentVolumeClaim', namespace: 'default', name: 'c' })
    expect(taken.spec?.['claimRef']).toHaveProperty('uid', bound.metadata.uid)
    expect(taken.status?.phase).toBe('Bound')
    expect(taken.metadata.annotations).toEqual({ 'pv.kubernetes.io/bound-by-controller': 'yes' })

    await drop(client, claims, 'c')
    await server.settle()
    expect(await missing(client.get(claims, 'c'))).toBe(true)
    expect(await phase(server, volumes, 'small')).toBe('Released')
    // Its data may be of worth: nobody else gets it.
    await client.create(claims, claim('d', { volumeName: 'small' }))
    await server.settle()
    expect(await phase(server, claims, 'd')).toBe('Pending')
  })

  it('S57 a volume that names its claim waits for it, and a claim that names its volume takes that', async () => {
    await using server = await start(
      volume('kept', { claimRef: { namespace: 'default', name: 'mine' }, capacity: { storage: '9Gi' } }),
      volume('other'),
    )
    const { client } = server
    await server.settle()
    expect(await phase(server, volumes, 'kept')).toBe('Available')
    await client.create(claims, claim('mine'))
    await client.create(claims, claim('asks', { volumeName: 'other' }))
    await server.settle()
    expect((await client.get(claims, 'mine')).spec?.['volumeName']).toBe('kept')
    expect((await client.get(volumes, 'kept')).metadata.annotations).toBeUndefined()
    expect((await client.get(claims, 'asks')).metadata.annotations).toEqual({ 'pv.kubernetes.io/bind-completed': 'yes' })
    expect(await phase(server, volumes, 'other')).toBe('Bound')
  })

  it.each([
    ['size', { resources: { requests: { storage: '2Gi' } } }],
    ['class', { storageClassName: 'fast' }],
    ['mode', { volumeMode: 'Block' }],
    ['ways of mounting', { accessModes: ['ReadWriteMany'] }],
    ['labels', { selector: { matchLabels: { disk: 'fast' } } }],
  ])('S54 S55 S58 a claim waits for a volume of its %s', async (_, spec) => {
    await using server = await start(volume('v'), claim('c', spec))
    await server.settle()
    expect([await phase(server, claims, 'c'), await phase(server, volumes, 'v')]).toEqual(['Pending', 'Available'])
  })

  it('S54 a claim that waits is served by a volume that comes later', async () => {
    await using server = await start(claim('c', { selector: { matchLabels: { disk: 'fast' } } }))
    await server.settle()
    await server.client.create(volumes, { ...volume('v'), metadata: { name: 'v', labels: { disk: 'fast' } } })
    await server.settle()
    expect(await phase(server, claims, 'c')).toBe('Bound')
  })

  it('a claim whose volume is gone is lost', async () => {
    await using server = await start(volume('v'), claim('c'))
    await server.settle()
    await server.client.delete(volumes, 'v')
    await server.client.patch(volumes, 'v', { type: 'merge', patch: { metadata: { finalizers: null } } })
    await server.settle()
    expect(await phase(server, claims, 'c')).toBe('Lost')
  })

  it('S70 S71 what becomes of a released volume is said by its policy', async () => {
    await using server = await start(
      volume('delete', { persistentVolumeReclaimPolicy: 'Delete', claimRef: { namespace: 'default', name: 'a' } }),
      volume('recycle', { persistentVolumeReclaimPolicy: 'Recycle', claimRef: { namespace: 'default', name: 'b' } }),
      volume('csi', {
        hostPath: undefined,
        csi: { driver: 'd', volumeHandle: 'h' },
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: 'default', name: 'c' },
      }),
      ...['a', 'b', 'c'].map((name) => claim(name)),
    )
    await server.settle()
    for (const name of ['a', 'b', 'c']) await drop(server.client, claims, name)
    await server.settle()
    expect((await server.client.get(volumes, 'delete')).status).toMatchObject({
      phase: 'Failed',
      message: 'no volume plugin can delete it',
    })
    expect(await phase(server, volumes, 'recycle')).toBe('Failed')
    expect(await phase(server, volumes, 'csi')).toBe('Released')
  })

  it('S79 S84 a claim is marked for the provisioner of its class, and one without a class gets the default', async () => {
    await using server = await start(claim('c', { storageClassName: undefined }))
    const { client } = server
    await server.settle()
    const annotations = { 'storageclass.kubernetes.io/is-default-class': 'true' }
    await client.create(classes, { metadata: { name: 'fast', annotations }, provisioner: 'example.com/disk' } as never)
    await server.settle()
    const marked = await client.get(claims, 'c')
    expect(marked.spec?.['storageClassName']).toBe('fast')
    expect(marked.metadata.annotations).toEqual({
      'volume.beta.kubernetes.io/storage-provisioner': 'example.com/disk',
      'volume.kubernetes.io/storage-provisioner': 'example.com/disk',
    })
    await client.create(classes, {
      metadata: { name: 'late' },
      provisioner: 'example.com/disk',
      volumeBindingMode: 'WaitForFirstConsumer',
    } as never)
    await client.create(volumes, volume('v', { storageClassName: 'late' }))
    await client.create(claims, claim('waits', { storageClassName: 'late' }))
    await server.settle()
    expect((await client.get(claims, 'waits')).metadata.annotations).toBeUndefined()
    expect(await phase(server, claims, 'waits')).toBe('Pending')
  })
})

describe('protection', () => {
  it('a claim that a scheduled pod uses stays until the pod is gone', async () => {
    const uses = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
    await using server = await start(claim('c'), pod('p', { nodeName: 'n', ...uses }), pod('waits', uses))
    const { client } = server
    await server.settle()
    expect((await client.get(claims, 'c')).metadata.finalizers).toEqual(['kubernetes.io/pvc-protection'])
    await client.delete(claims, 'c')
    await server.settle()
    expect((await client.get(claims, 'c')).metadata.deletionTimestamp).toBeDefined()
    await client.delete(pods, 'p', { gracePeriodSeconds: 0 })
    await server.settle()
    expect(await missing(client.get(claims, 'c'))).toBe(true)
  })

  it('a bound volume stays until its claim is gone', async () => {
    await using server = await start(volume('v'), claim('c'))
    const { client } = server
    await server.settle()
    await client.delete(volumes, 'v')
    await server.settle()
    expect((await client.get(volumes, 'v')).metadata).toMatchObject({
      finalizers: ['kubernetes.io/pv-protection'],
      deletionTimestamp: expect.any(String),
    })
    await client.delete(claims, 'c')
    await server.settle()
    expect(await missing(client.get(volumes, 'v'))).toBe(true)
  })
})

describe('ephemeral volumes', () => {
  const template = {
    metadata: { labels: { from: 'template' }, annotations: { a: 'b' } },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'none' },
  }
  const scratch = pod('p', { volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate: template } }] })

  it('S30 S31 a claim is made from the template, named by pod and volume, owned by the pod and deleted with it', async () => {
    await using server = await start(scratch)
    const { client } = server
    await server.settle()
    const made = await client.get(claims, 'p-scratch')
    expect(made.metadata).toMatchObject({ labels: { from: 'template' }, annotations: { a: 'b' } })
    expect(made.metadata.ownerReferences).toEqual([
      expect.objectContaining({ apiVersion: 'v1', kind: 'Pod', name: 'p', controller: true, blockOwnerDeletion: true }),
    ])
    expect(made.spec).toEqual({ ...template.spec, volumeMode: 'Filesystem' })
    await client.delete(pods, 'p', { gracePeriodSeconds: 0 })
    await server.settle()
    expect(await missing(client.get(claims, 'p-scratch'))).toBe(true)
  })

  it('S32 a claim of that name that is not the pod’s is left alone', async () => {
    const failures: unknown[] = []
    await using server = await createTestServer({
      seed: [claim('p-scratch', { storageClassName: 'own' }), scratch],
      onError: (error) => failures.push(error),
    })
    await server.settle()
    const kept = await server.client.get(claims, 'p-scratch')
    expect([kept.spec?.['storageClassName'], kept.metadata.ownerReferences]).toEqual(['own', undefined])
    expect(String(failures[0])).toContain('default/p-scratch was not made for the pod')
  })
})
