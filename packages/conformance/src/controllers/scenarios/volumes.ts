import { type Json, podTemplate, type Scenario, type ScenarioNamespace } from '../scenario.ts'

const claim = (name: string, spec: Json) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name },
  spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, ...spec },
})

const volume = (name: string, spec: Json) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, labels: { volume: name } },
  spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '2Gi' }, hostPath: { path: '/tmp/x' }, ...spec },
})

/** Creates a volume that claims can bind. */
async function available(namespace: ScenarioNamespace, name: string, spec: Json): Promise<void> {
  await namespace.create(volume(name, spec), 'cluster')
  await namespace.until(`/v1/persistentvolumes/${name}`, ({ status }) => status.phase === 'Available')
}

const podWith = (name: string, claimName: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { ...podTemplate('v').spec, volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] },
})

export const volumes: readonly Scenario[] = [
  {
    name: 'claim-binds',
    run: async (namespace) => {
      await available(namespace, 'binds-a', { storageClassName: 'binds' })
      await available(namespace, 'binds-b', { storageClassName: 'binds', capacity: { storage: '1Gi' } })
      await namespace.until('/v1/persistentvolumes/binds-b', ({ status }) => status.phase === 'Available')
      await namespace.create(claim('a', { storageClassName: 'binds' }))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.create(claim('b', { storageClassName: 'binds', volumeName: 'binds-a' }))
      await namespace.until('v1/persistentvolumeclaims/b', ({ status }) => status.phase === 'Bound')
      await namespace.create(claim('none', { storageClassName: 'binds' }))
      await namespace.create(claim('without-class', { storageClassName: '' }))
      await namespace.wait(16)
    },
  },
  {
    name: 'claim-released',
    run: async (namespace) => {
      await available(namespace, 'kept', { storageClassName: 'kept' })
      await namespace.create(claim('a', { storageClassName: 'kept' }))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.delete('v1/persistentvolumeclaims/a')
      await namespace.untilGone('v1/persistentvolumeclaims/a')
      await namespace.until('/v1/persistentvolumes/kept', ({ status }) => status.phase === 'Released')
    },
  },
  {
    name: 'claim-lost',
    run: async (namespace) => {
      await available(namespace, 'lost', { storageClassName: 'lost' })
      await namespace.create(claim('a', { storageClassName: 'lost' }))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.delete('/v1/persistentvolumes/lost')
      await namespace.merge('/v1/persistentvolumes/lost', { metadata: { finalizers: null } })
      await namespace.wait(2)
    },
  },
  {
    name: 'claim-misplaced',
    run: async (namespace) => {
      await namespace.create(
        volume('reserved', { storageClassName: 'reserved', claimRef: { namespace: 'other', name: 'a' } }),
        'cluster',
      )
      await available(namespace, 'small', { storageClassName: 'reserved', capacity: { storage: '1Mi' } })
      await namespace.create(claim('taken', { storageClassName: 'reserved', volumeName: 'reserved' }))
      await namespace.create(claim('small', { storageClassName: 'reserved', volumeName: 'small' }))
      await namespace.create(claim('absent', { storageClassName: 'reserved', volumeName: 'absent' }))
      await namespace.wait(16)
    },
  },
  {
    name: 'claim-waits',
    run: async (namespace) => {
      const provisioner = 'kubernetes.io/no-provisioner'
      await namespace.create(
        {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name: 'waits' },
          provisioner,
          volumeBindingMode: 'WaitForFirstConsumer',
        },
        'cluster',
      )
      await available(namespace, 'waits', { storageClassName: 'waits' })
      await namespace.create(claim('a', { storageClassName: 'waits' }))
      await namespace.create(claim('b', { storageClassName: 'waits' }))
      await namespace.wait(2)
      await namespace.create(podWith('p', 'a'))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.wait(16)
    },
  },
  {
    name: 'claim-provisioned',
    run: async (namespace) => {
      await namespace.create(
        {
          apiVersion: 'storage.k8s.io/v1',
          kind: 'StorageClass',
          metadata: { name: 'made' },
          provisioner: 'example.com/made',
          allowVolumeExpansion: true,
        },
        'cluster',
      )
      await namespace.create(claim('a', { storageClassName: 'made' }))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.create(podWith('p', 'a'))
      await namespace.until('v1/pods/p', ({ status }) => status.phase === 'Running')
      await namespace.merge('v1/persistentvolumeclaims/a', { spec: { resources: { requests: { storage: '2Gi' } } } })
      await namespace.wait(3)
    },
  },
  {
    name: 'claim-protected',
    run: async (namespace) => {
      await available(namespace, 'protected', { storageClassName: 'protected' })
      await namespace.create(claim('a', { storageClassName: 'protected' }))
      await namespace.until('v1/persistentvolumeclaims/a', ({ status }) => status.phase === 'Bound')
      await namespace.create(podWith('p', 'a'))
      await namespace.until('v1/pods/p', ({ status }) => status.phase === 'Running')
      await namespace.delete('v1/persistentvolumeclaims/a')
      await namespace.delete('/v1/persistentvolumes/protected')
      await namespace.wait(2)
    },
  },
  {
    name: 'claim-ephemeral',
    run: async (namespace) => {
      const { spec } = claim('x', { storageClassName: 'ephemeral' })
      const volumes = [{ name: 'v', ephemeral: { volumeClaimTemplate: { metadata: { labels: { a: 'b' } }, spec } } }]
      await available(namespace, 'ephemeral', { storageClassName: 'ephemeral' })
      await namespace.create(claim('taken-v', { storageClassName: 'ephemeral-none' }))
      for (const name of ['p', 'taken'])
        await namespace.create({ ...podWith(name, ''), spec: { ...podTemplate('v').spec, volumes } })
      await namespace.until('v1/pods/p', ({ status }) => status.phase === 'Running')
      await namespace.wait(16)
    },
  },
]
