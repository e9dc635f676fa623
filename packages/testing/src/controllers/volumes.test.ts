import { type Client, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { TestServer } from '../interfaces.ts'
import { pods } from '../resources.fixture.ts'
import { createTestServer } from '../test-server.ts'

interface Condition {
  type: string
  status: string
  reason?: string
}

interface Stored extends ApiObject {
  spec?: Record<string, unknown>
  status?: { phase?: string; capacity?: object; accessModes?: string[]; message?: string; conditions?: Condition[] }
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

/** Deletes an object despite its finalizers. */
const drop = (client: Client, of: typeof claims, name: string) => client.delete(of, name)

describe('binding', () => {
  it('a volume is available, bound to a matching claim, then released [S97] [S57] [S67]', async () => {
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
    // The volume keeps its data and is not bound to another claim.
    await client.create(claims, claim('d', { volumeName: 'small' }))
    await server.settle()
    expect(await phase(server, claims, 'd')).toBe('Pending')
  })

  it('a volume waits for its named claim, and a claim binds its named volume [S57]', async () => {
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
  ])('a claim waits for a volume of its %s [S54] [S55] [S58]', async (_, spec) => {
    await using server = await start(volume('v'), claim('c', spec))
    await server.settle()
    expect([await phase(server, claims, 'c'), await phase(server, volumes, 'v')]).toEqual(['Pending', 'Available'])
  })

  it('a pending claim is bound to a volume that is created later [S54]', async () => {
    await using server = await start(claim('c', { selector: { matchLabels: { disk: 'fast' } } }))
    await server.settle()
    await server.client.create(volumes, { ...volume('v'), metadata: { name: 'v', labels: { disk: 'fast' } } })
    await server.settle()
    expect(await phase(server, claims, 'c')).toBe('Bound')
  })

  it('a claim whose volume is deleted is lost', async () => {
    await using server = await start(volume('v'), claim('c'))
    await server.settle()
    await server.client.delete(volumes, 'v')
    await server.client.patch(volumes, 'v', { type: 'merge', patch: { metadata: { finalizers: null } } })
    await server.settle()
    expect(await phase(server, claims, 'c')).toBe('Lost')
  })

  it('the reclaim policy determines the phase of a released volume [S70] [S71]', async () => {
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
      message: 'error getting deleter volume plugin for volume "delete": no deletable volume plugin matched',
    })
    expect(await phase(server, volumes, 'recycle')).toBe('Failed')
    expect(await phase(server, volumes, 'csi')).toBe('Released')
  })

  it('a claim is annotated with the provisioner of its class, or else of the default class [S79] [S84]', async () => {
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
  it('a claim in use by a scheduled pod is kept until the pod is deleted', async () => {
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

  it('a bound claim tells whether a pod uses it, since 1.37', async () => {
    const uses = { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'c' } }] }
    await using server = await createTestServer({ seed: [volume('v'), claim('c'), claim('waits')], emulate: '1.37' })
    const { client } = server
    const use = async () => {
      await server.settle()
      const { status } = await client.get(claims, 'c')
      return status?.conditions?.map(({ type, status: value, reason }) => `${type} ${value} ${reason}`)
    }
    expect(await use()).toEqual(['Unused True NoPodsUsingPVC'])
    expect((await client.get(claims, 'waits')).status).toEqual({ phase: 'Pending' })
    await client.create(pods, pod('p', uses))
    expect(await use()).toEqual(['Unused False PodUsingPVC'])
    await client.delete(pods, 'p', { gracePeriodSeconds: 0 })
    expect(await use()).toEqual(['Unused True NoPodsUsingPVC'])
    await client.create(pods, pod('ended', uses))
    const ended = { ...(await client.get(pods, 'ended')), status: { phase: 'Succeeded' } }
    await client.update(pods, ended, { subresource: 'status' })
    expect(await use()).toEqual(['Unused True NoPodsUsingPVC'])
  })

  it('a bound volume is kept until its claim is deleted', async () => {
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

  it('a claim is created from the template, named by pod and volume, and deleted with the pod [S30] [S31]', async () => {
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

  it('an existing claim with another owner is not changed [S32]', async () => {
    const failures: unknown[] = []
    await using server = await createTestServer({
      seed: [claim('p-scratch', { storageClassName: 'own' }), scratch],
      onError: (error) => failures.push(error),
    })
    await server.settle()
    const kept = await server.client.get(claims, 'p-scratch')
    expect([kept.spec?.['storageClassName'], kept.metadata.ownerReferences]).toEqual(['own', undefined])
    expect(String(failures[0])).toContain('default/p-scratch is not owned by the pod')
  })
})
