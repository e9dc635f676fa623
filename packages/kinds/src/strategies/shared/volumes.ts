/** Volumes of pods: unique names, and exactly one source each. */

import type { Work } from '@krmkit/base/work'
import { nameRules } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { validateAnnotations, validateLabels } from '@krmkit/meta/validation'
import type { PersistentVolumeClaimTemplate, Volume } from '../../types/core-v1.generated.ts'
import { validateClaimSpec } from './claim-spec.ts'
import type { FieldPath } from './field-path.ts'
import { forEachItem } from './for-each.ts'
import { validateDnsLabel } from './names.ts'
import { isEmpty, isSet, type R } from './values.ts'
import { validateConfigMap, validateDownwardApi, validateEmptyDir, validateProjected, validateSecret } from './volume-files.ts'
import type { VolumesByName } from './volume-mounts.ts'
import { iscsiLengthProblem, isTooLong, networkSources, type SourceChecks } from './volume-network.ts'
import { vendorSources } from './volume-vendor.ts'

/** What volumes need to know about the pod; templates have no name. */
export interface VolumeOptions {
  readonly podName: string | undefined
}

const claimSource: SourceChecks<Volume> = {
  persistentVolumeClaim(source, at) {
    if (isEmpty(source.claimName)) at.child('claimName').required()
  },
}

/** Sources in validation order; only the first one that is set is validated. */
const sourceOrder = [
  'emptyDir',
  'hostPath',
  'gitRepo',
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'secret',
  'nfs',
  'iscsi',
  'glusterfs',
  'flocker',
  'persistentVolumeClaim',
  'rbd',
  'cinder',
  'cephfs',
  'quobyte',
  'downwardAPI',
  'fc',
  'flexVolume',
  'configMap',
  'azureFile',
  'vsphereVolume',
  'photonPersistentDisk',
  'portworxVolume',
  'azureDisk',
  'storageos',
  'projected',
  'scaleIO',
  'csi',
  'ephemeral',
  'image',
] as const satisfies readonly (keyof Volume)[]

const checks: SourceChecks<Volume> = {
  ...networkSources,
  ...vendorSources,
  ...claimSource,
  emptyDir: validateEmptyDir,
  secret: validateSecret,
  configMap: validateConfigMap,
  downwardAPI: validateDownwardApi,
  projected: validateProjected,
  ephemeral(source, at) {
    if (!isSet(source.volumeClaimTemplate)) at.child('volumeClaimTemplate').required()
    else validateClaimTemplate(source.volumeClaimTemplate, at.child('volumeClaimTemplate'))
  },
  image(source, at) {
    if (isEmpty(source.reference)) at.child('reference').required()
    if (!isEmpty(source.pullPolicy) && !['Always', 'IfNotPresent', 'Never'].includes(source.pullPolicy)) {
      at.child('pullPolicy').notSupported(source.pullPolicy, ['Always', 'IfNotPresent', 'Never'])
    }
  },
}

/**
 * `volumes` of a pod or template.
 *
 * @returns the valid volumes; only these can be mounted.
 */
export function* validateVolumes(
  volumes: readonly R<Volume>[] | null | undefined,
  at: FieldPath,
  options: VolumeOptions,
): Work<VolumesByName> {
  const good = new Map<string, R<Volume>>()
  const created = new Set<string>()
  yield* forEachItem(volumes, (volume, i) => {
    const here = at.index(i)
    const before = at.errors.length
    validateSource(volume, here, options)
    if (isEmpty(volume.name)) here.child('name').required()
    else validateDnsLabel(volume.name, here.child('name'))
    if (good.has(volume.name)) here.child('name').duplicate(volume.name)
    if (at.errors.length === before) good.set(volume.name, volume)
    if (isSet(volume.ephemeral) && !isEmpty(options.podName)) created.add(`${options.podName}-${volume.name}`)
  })
  for (const [i, volume] of (volumes ?? []).entries()) {
    const claim = volume.persistentVolumeClaim?.claimName
    if (claim !== undefined && created.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume'
      at.index(i).child('persistentVolumeClaim').child('claimName').invalid(claim, detail)
    }
  }
  return good
}

/** Names in the error of a second source, where they differ. */
const secondNames: Readonly<Partial<Record<keyof Volume, string>>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

function validateSource(volume: R<Volume>, at: FieldPath, options: VolumeOptions): void {
  let found = false
  for (const name of sourceOrder) {
    const source = volume[name]
    if (!isSet(source)) continue
    if (found) {
      at.child(secondNames[name] ?? name).forbidden('may not specify more than 1 volume type')
      continue
    }
    found = true
    const check = checks[name] as ((source: unknown, at: FieldPath) => void) | undefined
    check?.(source, at.child(name === 'gcePersistentDisk' ? 'persistentDisk' : name))
    if (name === 'iscsi') validateInitiatorLength(volume, at)
    if (name === 'ephemeral') validateClaimName(volume, at, options)
  }
  if (!found) at.required('must specify a volume type')
}

function validateInitiatorLength(volume: R<Volume>, at: FieldPath): void {
  const iscsi = volume.iscsi
  if (isSet(iscsi?.initiatorName) && isTooLong(volume.name, iscsi.targetPortal)) {
    at.child('name').invalid(volume.name, iscsiLengthProblem)
  }
}

function validateClaimName(volume: R<Volume>, at: FieldPath, options: VolumeOptions): void {
  if (isEmpty(options.podName) || isEmpty(volume.name)) return
  const claim = `${options.podName}-${volume.name}`
  for (const message of nameRules.dns1123Subdomain(claim, false)) {
    at.child('name').invalid(volume.name, `PVC name ${goQuote(claim)}: ${message}`)
  }
}

/** Claim templates have labels and annotations but no other metadata. */
function validateClaimTemplate(template: R<PersistentVolumeClaimTemplate>, at: FieldPath): void {
  const metadata = template.metadata
  const metadataAt = at.child('metadata')
  if (isSet(metadata)) {
    metadataAt.add(validateAnnotations(metadata.annotations, metadataAt.child('annotations').path()))
    metadataAt.add(validateLabels(metadata.labels, metadataAt.child('labels').path()))
    for (const [name, value] of Object.entries(metadata)) {
      if (name !== 'labels' && name !== 'annotations' && isSet(value)) metadataAt.child(name).forbidden('cannot be set')
    }
  }
  validateClaimSpec(template.spec, at.child('spec'))
}
