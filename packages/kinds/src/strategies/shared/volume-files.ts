/** Volumes with files written by the kubelet: config maps, secrets, downward API, tokens and empty directories. */
import type {
  ConfigMapVolumeSource,
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  EmptyDirVolumeSource,
  KeyToPath,
  ProjectedVolumeSource,
  SecretVolumeSource,
  ServiceAccountTokenProjection,
  VolumeProjection,
} from '../../types/core-v1.generated.ts'
import { certificateProjectionOf, validateCertificateProjection } from './certificate-projection.ts'
import { validateFieldRef, validateResourceFieldRef } from './downward.ts'
import type { FieldPath } from './field-path.ts'
import { validateFreePath } from './paths.ts'
import { amount, sign } from './quantities.ts'
import { validateTrustBundleProjection } from './trust-bundle-projection.ts'
import { isEmpty, isSet, type R } from './values.ts'

const fileFields = ['metadata.annotations', 'metadata.labels', 'metadata.name', 'metadata.namespace', 'metadata.uid']
const fileResources = [
  'limits.cpu',
  'limits.ephemeral-storage',
  'limits.memory',
  'requests.cpu',
  'requests.ephemeral-storage',
  'requests.memory',
]
const largestMode = 0o777

function validateMode(mode: number | null | undefined, at: FieldPath): void {
  if (isSet(mode) && (mode < 0 || mode > largestMode)) {
    at.invalid(mode, 'must be a number between 0 and 0777 (octal), both inclusive')
  }
}

/** Media of `emptyDir`. `Differs:` kube-apiserver accepts any text; S21. */
function isMedium(medium: string): boolean {
  return medium === '' || medium === 'Memory' || medium === 'HugePages' || medium.startsWith('HugePages-')
}

export function validateEmptyDir(source: R<EmptyDirVolumeSource>, at: FieldPath): void {
  if (isSet(source.sizeLimit) && sign(amount(source.sizeLimit)) < 0) {
    at.child('sizeLimit').forbidden('SizeLimit field must be a valid resource quantity')
  }
  const medium = source.medium ?? ''
  if (!isMedium(medium)) at.child('medium').notSupported(medium, ['', 'HugePages', 'Memory'])
}

export function validateSecret(source: R<SecretVolumeSource>, at: FieldPath): void {
  if (isEmpty(source.secretName)) at.child('secretName').required()
  validateMode(source.defaultMode, at.child('defaultMode'))
  validateItems(source.items, at.child('items'))
}

export function validateConfigMap(source: R<ConfigMapVolumeSource>, at: FieldPath): void {
  if (isEmpty(source.name)) at.child('name').required()
  validateMode(source.defaultMode, at.child('defaultMode'))
  validateItems(source.items, at.child('items'))
}

function validateItems(items: readonly R<KeyToPath>[] | null | undefined, at: FieldPath): void {
  for (const [i, item] of (items ?? []).entries()) validateKeyToPath(item, at.index(i))
}

function validateKeyToPath(item: R<KeyToPath>, at: FieldPath): void {
  if (isEmpty(item.key)) at.child('key').required()
  if (isEmpty(item.path)) at.child('path').required()
  validateFreePath(item.path ?? '', at.child('path'))
  validateMode(item.mode, at.child('mode'))
}

export function validateDownwardApi(source: R<DownwardAPIVolumeSource>, at: FieldPath): void {
  validateMode(source.defaultMode, at.child('defaultMode'))
  // Errors of items have the path of the source, as on kube-apiserver.
  for (const item of source.items ?? []) validateDownwardFile(item, at)
}

function validateDownwardFile(file: R<DownwardAPIVolumeFile>, at: FieldPath): void {
  if (isEmpty(file.path)) at.child('path').required()
  validateFreePath(file.path ?? '', at.child('path'))
  if (isSet(file.fieldRef)) {
    validateFieldRef(file.fieldRef, at.child('fieldRef'), fileFields)
    if (isSet(file.resourceFieldRef)) at.invalid('resource', 'fieldRef and resourceFieldRef can not be specified simultaneously')
  } else if (isSet(file.resourceFieldRef)) {
    validateResourceFieldRef(file.resourceFieldRef, at.child('resourceFieldRef'), {
      allowed: fileResources,
      containerRequired: true,
    })
  } else at.required('one of fieldRef and resourceFieldRef is required')
  validateMode(file.mode, at.child('mode'))
}

export function validateProjected(source: R<ProjectedVolumeSource>, at: FieldPath): void {
  validateMode(source.defaultMode, at.child('defaultMode'))
  const paths = new Set<string>()
  for (const [i, projection] of (source.sources ?? []).entries()) {
    validateProjection(projection, at.child('sources').index(i), { paths, volume: at })
  }
}

interface ProjectionOptions {
  /** Paths used so far. */
  readonly paths: Set<string>
  readonly volume: FieldPath
}

function validateProjection(projection: R<VolumeProjection>, at: FieldPath, options: ProjectionOptions): void {
  const { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle } = projection
  for (const [name, source] of [['secret', secret] as const, ['configMap', configMap] as const]) {
    if (!isSet(source)) continue
    const here = at.child(name)
    if (isEmpty(source.name)) here.child('name').required()
    for (const [i, item] of (source.items ?? []).entries()) {
      validateKeyToPath(item, here.child('items').index(i))
      takePath(item.path, source.name, options)
    }
  }
  if (isSet(downwardAPI)) {
    for (const file of downwardAPI.items ?? []) {
      validateDownwardFile(file, at.child('downwardAPI'))
      takePath(file.path, file.path, options)
    }
  }
  if (isSet(serviceAccountToken)) validateTokenProjection(serviceAccountToken, at.child('serviceAccountToken'), options)
  if (isSet(clusterTrustBundle)) {
    validateTrustBundleProjection(clusterTrustBundle, at.child('clusterTrustBundle'))
    const { path = '' } = clusterTrustBundle
    if (options.paths.has(path)) options.volume.invalid(path, 'conflicting duplicate paths')
    options.paths.add(path)
  }
  const podCertificate = certificateProjectionOf(projection)
  if (podCertificate !== undefined) validateCertificateProjection(podCertificate, at.child('podCertificate'), options)
  const count = [secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle, podCertificate].filter(isSet).length
  if (count > 1) at.forbidden('may not specify more than 1 volume type per source')
}

function takePath(path: string | undefined, told: string | undefined, options: ProjectionOptions): void {
  if (isEmpty(path)) return
  if (options.paths.has(path)) options.volume.invalid(told ?? '', 'conflicting duplicate paths')
  else options.paths.add(path)
}

const shortestToken = 10 * 60
const longestToken = 2 ** 32

function validateTokenProjection(token: R<ServiceAccountTokenProjection>, at: FieldPath, options: ProjectionOptions): void {
  const seconds = token.expirationSeconds ?? 0
  const secondsAt = at.child('expirationSeconds')
  if (seconds < shortestToken) secondsAt.invalid(seconds, 'may not specify a duration less than 10 minutes')
  if (seconds > longestToken) secondsAt.invalid(seconds, 'may not specify a duration larger than 2^32 seconds')
  // The error has the path of the volume, as on kube-apiserver.
  if (isEmpty(token.path)) options.volume.child('path').required()
  else validateFreePath(token.path, options.volume.child('path'))
}
