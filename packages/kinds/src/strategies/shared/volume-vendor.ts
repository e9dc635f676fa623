/** Volume sources of vendors; most only have required members. */
import type { AzureDiskVolumeSource, QuobyteVolumeSource, Volume } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { validateDnsLabel } from './names.ts'
import { between } from './numbers.ts'
import { validateDescendingPath } from './paths.ts'
import { isEmpty, isEmptyMap, isSet, type R } from './values.ts'
import type { SourceChecks } from './volume-network.ts'

/** Reports each of `names` that is missing or empty. */
function requireMembers<T extends object>(source: T, at: FieldPath, ...names: (keyof T & string)[]): void {
  for (const name of names) if (isEmpty(source[name] as string | readonly unknown[] | undefined)) at.child(name).required()
}

function validatePartition(partition: number | undefined, at: FieldPath): void {
  if (isSet(partition) && (partition < 0 || partition > 255)) at.child('partition').invalid(partition, between(1, 255))
}

/** Sources with the same members in pods and persistent volumes. */
export const vendorSources = {
  gitRepo(source, at) {
    requireMembers(source, at, 'repository')
    validateDescendingPath(source.directory ?? '', at.child('directory'))
  },
  gcePersistentDisk(source, at) {
    requireMembers(source, at, 'pdName')
    validatePartition(source.partition, at)
  },
  awsElasticBlockStore(source, at) {
    requireMembers(source, at, 'volumeID')
    validatePartition(source.partition, at)
  },
  glusterfs(source, at) {
    requireMembers(source, at, 'endpoints', 'path')
  },
  flocker(source, at) {
    const { datasetName, datasetUUID } = source
    if (isEmpty(datasetName) && isEmpty(datasetUUID)) at.required('one of datasetName and datasetUUID is required')
    if (!isEmpty(datasetName) && !isEmpty(datasetUUID)) {
      at.invalid('resource', 'datasetName and datasetUUID can not be specified simultaneously')
    }
    if (datasetName?.includes('/') === true) at.child('datasetName').invalid(datasetName, "must not contain '/'")
  },
  rbd(source, at) {
    requireMembers(source, at, 'monitors', 'image')
  },
  cinder(source, at) {
    requireMembers(source, at, 'volumeID')
    if (isSet(source.secretRef) && isEmpty(source.secretRef.name)) at.child('secretRef').child('name').required()
  },
  cephfs(source, at) {
    requireMembers(source, at, 'monitors')
  },
  quobyte: validateQuobyte,
  azureFile(source, at) {
    requireMembers(source, at, 'secretName', 'shareName')
  },
  vsphereVolume(source, at) {
    requireMembers(source, at, 'volumePath')
  },
  photonPersistentDisk(source, at) {
    requireMembers(source, at, 'pdID')
  },
  portworxVolume(source, at) {
    requireMembers(source, at, 'volumeID')
  },
  azureDisk: validateAzureDisk,
  storageos(source, at) {
    validateStoragePlatform(source, at)
    if (isSet(source.secretRef) && isEmpty(source.secretRef.name)) at.child('secretRef').child('name').required()
  },
  scaleIO: validateScaleVolume,
} satisfies SourceChecks<Volume>

/** `Differs:` the name is optional; S51. */
export function validateStoragePlatform(
  source: { readonly volumeName?: string; readonly volumeNamespace?: string },
  at: FieldPath,
): void {
  if (!isEmpty(source.volumeName)) validateDnsLabel(source.volumeName, at.child('volumeName'))
  if (!isEmpty(source.volumeNamespace)) validateDnsLabel(source.volumeNamespace, at.child('volumeNamespace'))
}

const storageModes = ['ThickProvisioned', 'ThinProvisioned']

/** `Differs:` the secret is required, the volume name is optional, and the mode is one of two; S50. */
export function validateScaleVolume(
  source: {
    readonly gateway: string
    readonly system: string
    readonly secretRef?: { readonly name?: string } | null
    readonly storageMode?: string
  },
  at: FieldPath,
): void {
  requireMembers(source, at, 'gateway', 'system')
  if (isEmptyMap(source.secretRef)) at.child('secretRef').required()
  const mode = source.storageMode
  if (!isEmpty(mode) && !storageModes.includes(mode)) at.child('storageMode').notSupported(mode, storageModes)
}

function validateQuobyte(source: R<QuobyteVolumeSource>, at: FieldPath): void {
  const form = 'must be a host:port pair or multiple pairs separated by commas'
  if (isEmpty(source.registry)) at.child('registry').required(form)
  else {
    for (const host of source.registry.split(',')) {
      if (!/^(\[[^[\]]*\]|[^:[\]]*):[^:]*$/.test(host)) {
        at.child('registry').invalid(source.registry, form)
      }
    }
  }
  if ((source.tenant ?? '').length >= 65) {
    at.child('tenant').required('must be a UUID and may not exceed a length of 64 characters')
  }
  if (isEmpty(source.volume)) at.child('volume').required()
}

const cachingModes = ['None', 'ReadOnly', 'ReadWrite']
const diskKinds = ['Dedicated', 'Managed', 'Shared']
const managedUri = '/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}'
const blobUri = 'https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd'

function validateAzureDisk(source: R<AzureDiskVolumeSource>, at: FieldPath): void {
  requireMembers(source, at, 'diskName', 'diskURI')
  const { cachingMode, kind } = source
  if (isSet(cachingMode) && !cachingModes.includes(cachingMode)) at.child('cachingMode').notSupported(cachingMode, cachingModes)
  if (isSet(kind) && !diskKinds.includes(kind)) at.child('kind').notSupported(kind, diskKinds)
  const uri = source.diskURI ?? ''
  if (kind === 'Managed' && !uri.startsWith('/subscriptions/')) at.child('diskURI').notSupported(uri, [managedUri])
  if (kind !== 'Managed' && !uri.startsWith('https://')) at.child('diskURI').notSupported(uri, [blobUri])
}
