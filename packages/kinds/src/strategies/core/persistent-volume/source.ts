/** Sources of persistent volumes: exactly one must be set. */
import { nameRules } from '@krmkit/meta'
import type { PersistentVolumeSpec, Volume } from '../../../types/core-v1.generated.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { validateDnsLabel, validateDnsSubdomain } from '../../shared/names.ts'
import { validateNoBackstep } from '../../shared/paths.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import {
  type SourceChecks,
  validateDriverName,
  validateFc,
  validateFlexVolume,
  validateHostPath,
  validateIscsi,
  validateNfs,
} from '../../shared/volume-network.ts'
import { validateScaleVolume, validateStoragePlatform, vendorSources } from '../../shared/volume-vendor.ts'

type Secret = { readonly name?: string; readonly namespace?: string }

/** In validation order; then the name in errors of its members, and the name in the error of a second source, where they differ. */
const order = [
  ['hostPath'],
  ['gcePersistentDisk', 'persistentDisk', 'gcePersistentDisk'],
  ['awsElasticBlockStore'],
  ['glusterfs'],
  ['flocker'],
  ['nfs'],
  ['rbd'],
  ['quobyte'],
  ['cephfs', 'cephfs', 'cephFS'],
  ['iscsi'],
  ['cinder'],
  ['fc'],
  ['flexVolume'],
  ['azureFile'],
  ['vsphereVolume'],
  ['photonPersistentDisk'],
  ['portworxVolume'],
  ['azureDisk'],
  ['scaleIO'],
  ['local'],
  ['storageos'],
  ['csi'],
] as const satisfies readonly (readonly [keyof PersistentVolumeSpec, string?, string?])[]

/** Names of all sources. */
export const sourceNames: readonly (keyof PersistentVolumeSpec)[] = order.map(([name]) => name)

function validateSecret(secret: Secret | null | undefined, at: FieldPath): void {
  if (!isSet(secret)) return
  if (isEmpty(secret.name)) at.child('name').required()
  else validateDnsSubdomain(secret.name, at.child('name'))
  if (isEmpty(secret.namespace)) at.child('namespace').required()
  else validateDnsLabel(secret.namespace, at.child('namespace'))
}

function requireSecretMembers(secret: Secret | null | undefined, at: FieldPath): void {
  if (!isSet(secret)) return
  for (const name of ['name', 'namespace'] as const) if (isEmpty(secret[name])) at.child(name).required()
}

/** Validates sources that pods have in the same shape. */
function asPodSource<K extends keyof typeof vendorSources>(name: K): (source: unknown, at: FieldPath) => void {
  return (source, at) => (vendorSources[name] as (source: R<NonNullable<Volume[K]>>, at: FieldPath) => void)(source as never, at)
}

interface SourceOptions {
  /** Of the PersistentVolume. */
  readonly name: string
  /** It has a node affinity. */
  readonly affinity: boolean
}

const checks: SourceChecks<PersistentVolumeSpec, SourceOptions> = {
  hostPath: validateHostPath,
  gcePersistentDisk: asPodSource('gcePersistentDisk'),
  awsElasticBlockStore: asPodSource('awsElasticBlockStore'),
  glusterfs(source, at) {
    asPodSource('glusterfs')(source, at)
    const namespace = source.endpointsNamespace
    if (!isSet(namespace)) return
    const here = at.child('endpointsNamespace')
    if (namespace === '') here.invalid(namespace, 'if the endpointnamespace is set, it must be a valid namespace name')
    else here.invalidAll(namespace, nameRules.dns1123Label(namespace, false))
  },
  flocker: asPodSource('flocker'),
  nfs: validateNfs,
  rbd: asPodSource('rbd'),
  quobyte: asPodSource('quobyte'),
  cephfs: asPodSource('cephfs'),
  iscsi(source, at, { name }) {
    validateIscsi(source, at, name)
    if (isSet(source.secretRef) && isEmpty(source.secretRef.name)) at.child('secretRef').child('name').required()
  },
  cinder(source, at) {
    if (isEmpty(source.volumeID)) at.child('volumeID').required()
    requireSecretMembers(source.secretRef, at.child('secretRef'))
  },
  fc: validateFc,
  flexVolume: validateFlexVolume,
  azureFile(source, at) {
    asPodSource('azureFile')(source, at)
    if (source.secretNamespace === '') at.child('secretNamespace').required()
  },
  vsphereVolume: asPodSource('vsphereVolume'),
  photonPersistentDisk: asPodSource('photonPersistentDisk'),
  portworxVolume: asPodSource('portworxVolume'),
  azureDisk: asPodSource('azureDisk'),
  scaleIO: validateScaleVolume,
  local(source, at) {
    if (isEmpty(source.path)) at.child('path').required()
    else validateNoBackstep(source.path, at.child('path'))
  },
  storageos(source, at) {
    validateStoragePlatform(source, at)
    requireSecretMembers(source.secretRef, at.child('secretRef'))
  },
  csi(source, at) {
    validateDriverName(source.driver ?? '', at.child('driver'))
    if (isEmpty(source.volumeHandle)) at.child('volumeHandle').required()
    validateSecret(source.controllerPublishSecretRef, at.child('controllerPublishSecretRef'))
    validateSecret(source.controllerExpandSecretRef, at.child('controllerExpandSecretRef'))
    validateSecret(source.nodePublishSecretRef, at.child('nodePublishSecretRef'))
    validateSecret(source.nodeExpandSecretRef, at.child('nodeExpandSecretRef'))
  },
}

/** Validates that exactly one source is set, and its rules. */
export function validatePersistentVolumeSource(spec: R<PersistentVolumeSpec>, at: FieldPath, options: SourceOptions): void {
  let found = false
  for (const [name, shown = name, second = shown] of order) {
    const source = spec[name]
    if (!isSet(source)) continue
    // kube-apiserver counts any number of flexVolume sources.
    if (found && name !== 'flexVolume') {
      at.child(second).forbidden('may not specify more than 1 volume type')
      continue
    }
    found = true
    const check = checks[name] as ((source: unknown, at: FieldPath, options: SourceOptions) => void) | undefined
    check?.(source, at.child(shown), options)
    if (name === 'local' && !options.affinity) at.child('nodeAffinity').required('Local volume requires node affinity')
  }
  if (!found) at.required('must specify a volume type')
}
