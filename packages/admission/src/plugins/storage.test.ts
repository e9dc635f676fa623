import { stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission, specOf } from '../testing/run-admission.ts'
import { defaultIngressClass } from './default-ingress-class.ts'
import { defaultStorageClass } from './default-storage-class.ts'
import { persistentVolumeClaimResize } from './persistent-volume-claim-resize.ts'
import { storageObjectInUseProtection } from './storage-object-in-use-protection.ts'

const marked = (time: string, key = 'storageclass.kubernetes.io/is-default-class') => ({
  metadata: { creationTimestamp: time, annotations: { [key]: 'true' } },
})

describe('StorageObjectInUseProtection', () => {
  const plugin = storageObjectInUseProtection(stockProfile)
  const finalizersOf = async (resource: string, finalizers?: string[]) => {
    const object = { metadata: finalizers === undefined ? {} : { finalizers } }
    return (await runAdmission(plugin, resource, { object })).object?.metadata.finalizers
  }

  it('adds finalizers to new claims and volumes [P292]', async () => {
    expect(await finalizersOf('persistentvolumeclaims')).toEqual(['kubernetes.io/pvc-protection'])
    expect(await finalizersOf('persistentvolumes')).toEqual(['kubernetes.io/pv-protection'])
    expect(await finalizersOf('storage.k8s.io/volumeattributesclasses')).toEqual(['kubernetes.io/vac-protection'])
  })

  it('keeps finalizers unique, and ignores other kinds [P292]', async () => {
    expect(await finalizersOf('persistentvolumes', ['a/b'])).toEqual(['a/b', 'kubernetes.io/pv-protection'])
    expect(await finalizersOf('persistentvolumes', ['kubernetes.io/pv-protection'])).toEqual(['kubernetes.io/pv-protection'])
    expect(await finalizersOf('pods')).toBeUndefined()
  })
})

describe('DefaultStorageClass', () => {
  const plugin = defaultStorageClass(stockProfile)
  const cluster = clusterOf({
    'storage.k8s.io/storageclasses//old': marked('2024-01-01T00:00:00Z'),
    'storage.k8s.io/storageclasses//b': marked('2024-02-01T00:00:00Z'),
    'storage.k8s.io/storageclasses//a': marked('2024-02-01T00:00:00Z', 'storageclass.beta.kubernetes.io/is-default-class'),
    'storage.k8s.io/storageclasses//other': { metadata: { creationTimestamp: '2024-03-01T00:00:00Z' } },
  })
  const classOf = async (spec: object, metadata = {}, on = cluster) =>
    specOf(await runAdmission(plugin, 'persistentvolumeclaims', { object: { metadata, spec } }, on)).storageClassName

  it('sets the newest default class, then the first by name', async () => {
    expect(await classOf({})).toBe('a')
  })

  it('keeps a class of the claim, even an empty or annotated one', async () => {
    expect(await classOf({ storageClassName: 'other' })).toBe('other')
    expect(await classOf({ storageClassName: '' })).toBe('')
    expect(await classOf({}, { annotations: { 'volume.beta.kubernetes.io/storage-class': '' } })).toBeUndefined()
  })

  it('sets no class without a default class, and none on updates', async () => {
    expect(await classOf({}, {}, clusterOf())).toBeUndefined()
    expect(plugin.handles({ ...claimTarget, operation: 'UPDATE' })).toBe(false)
  })
})

const claimTarget = {
  kind: { group: '', version: 'v1', kind: 'PersistentVolumeClaim' },
  resource: { group: '', version: 'v1', resource: 'persistentvolumeclaims' },
  subresource: '',
}

describe('DefaultIngressClass', () => {
  const plugin = defaultIngressClass(stockProfile)
  const cluster = clusterOf({
    'networking.k8s.io/ingressclasses//front': marked('2024-01-01T00:00:00Z', 'ingressclass.kubernetes.io/is-default-class'),
  })
  const classOf = async (spec: object, metadata = {}) =>
    specOf(await runAdmission(plugin, 'networking.k8s.io/ingresses', { object: { metadata, spec } }, cluster)).ingressClassName

  it('sets the default class on ingresses without field or annotation', async () => {
    expect(await classOf({})).toBe('front')
    expect(await classOf({ ingressClassName: 'own' })).toBe('own')
    expect(await classOf({}, { annotations: { 'kubernetes.io/ingress.class': 'old' } })).toBeUndefined()
  })
})

describe('PersistentVolumeClaimResize', () => {
  const plugin = persistentVolumeClaimResize(stockProfile)
  const cluster = clusterOf({
    'storage.k8s.io/storageclasses//grows': { allowVolumeExpansion: true },
    'storage.k8s.io/storageclasses//stays': {},
  })
  const claim = (storage: string, storageClassName?: string, phase = 'Bound') => ({
    spec: { resources: { requests: { storage } }, ...(storageClassName === undefined ? {} : { storageClassName }) },
    status: { phase },
  })
  const change = async (oldObject: object, object: object) =>
    refusalOf(await runAdmission(plugin, 'persistentvolumeclaims', { oldObject, object }, cluster))

  it('allows expansion of a bound claim when its class does [P284]', async () => {
    expect(await change(claim('1Gi', 'grows'), claim('2Gi', 'grows'))).toBe('')
  })

  it.each([['stays'], ['missing'], [undefined]])('refuses expansion when the class is %s [P284]', async (name) => {
    expect(await change(claim('1Gi', name), claim('2Gi', name))).toBe(
      'persistentvolumeclaims "a" is forbidden: only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize',
    )
  })

  it('refuses expansion of an unbound claim [P284]', async () => {
    expect(await change(claim('1Gi', 'grows', 'Pending'), claim('2Gi', 'grows', 'Pending'))).toBe(
      'persistentvolumeclaims "a" is forbidden: Only bound persistent volume claims can be expanded',
    )
  })

  it('ignores updates that do not expand the claim [P284]', async () => {
    expect(await change(claim('1Gi'), claim('1024Mi'))).toBe('')
    expect(await change(claim('2Gi'), claim('1Gi'))).toBe('')
  })
})
