/** PersistentVolume. @see Configuration and storage specification, 2.5 */

import type { Work } from '@krmkit/base/work'
import { type DeepReadonly, formatTime, type NamingProfile, nameRules } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goText, joinFormatted } from '@krmkit/meta/go-text'
import type { StrategyContext } from '../../../interfaces.ts'
import type { PersistentVolume, PersistentVolumeSpec, VolumeNodeAffinity } from '../../../types/core-v1.generated.ts'
import { validateAccessModes, volumeModes } from '../../shared/claim-spec.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goPointer, goStruct } from '../../shared/go-form.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { newerNodeLabel, warnNodeTerm } from '../../shared/node-labels.ts'
import { validateNodeSelector } from '../../shared/node-selector.ts'
import { defaultVendorSource } from '../../shared/pod-defaults.ts'
import { deprecatedSources } from '../../shared/pod-warnings.ts'
import { amount, printAmount, sign } from '../../shared/quantities.ts'
import { lunOfVolume } from '../../shared/required-luns.ts'
import { roundUp } from '../../shared/round-up.ts'
import { sortedKeys } from '../../shared/sorted-keys.direct.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { loadStructDiff, structDiff } from '../../shared/struct-diff.ts'
import { isEmpty, isEmptyMap, isSet, own, type R } from '../../shared/values.ts'
import { collectWarnings } from '../../shared/warning-list.ts'
import { validateAttributesClass, validateAttributesClassUpdate } from './attributes-class.ts'
import { sourceNames, validatePersistentVolumeSource } from './source.ts'

const reclaimPolicies = ['Delete', 'Recycle', 'Retain']

/** Sources that support mount options by annotation. */
const mountOptionSources = [
  'gcePersistentDisk',
  'awsElasticBlockStore',
  'glusterfs',
  'nfs',
  'rbd',
  'quobyte',
  'iscsi',
  'cinder',
  'cephfs',
  'azureFile',
  'vsphereVolume',
  'azureDisk',
  'photonPersistentDisk',
] as const satisfies readonly (keyof PersistentVolumeSpec)[]

function* validateVolume(
  volume: DeepReadonly<PersistentVolume>,
  errors: ContextErrorList,
  old?: DeepReadonly<PersistentVolume>,
): Work {
  yield* validateMetadata(volume, errors, { namespaced: false })
  yield* validatePersistentVolumeSpec(volume.spec ?? {}, errors.child('spec'), { name: volume.metadata.name ?? '' })
  validateAttributesClass(volume, errors, old)
}

/** Rules of the specification; `inline` is the inline volume of a VolumeAttachment, which has no name. */
export function* validatePersistentVolumeSpec(
  spec: R<PersistentVolumeSpec>,
  at: FieldPath,
  options: { readonly name: string } | { readonly inline: true },
): Work {
  const isInline = 'inline' in options
  if (isInline) refuseForInline(spec, at)
  else validateVolumeRules(spec, at)
  const affinity = spec.nodeAffinity
  if (isSet(affinity) && isInline) at.child('nodeAffinity').forbidden(notInline)
  else if (isSet(affinity)) {
    const here = at.child('nodeAffinity').child('required')
    if (isSet(affinity.required)) yield* validateNodeSelector(affinity.required, here)
    else here.required('must specify required node constraints')
  }
  const name = isInline ? '' : options.name
  validatePersistentVolumeSource(spec, at, { name, affinity: !isInline && isSet(affinity) })
  const policy = spec.persistentVolumeReclaimPolicy
  if (isSet(spec.hostPath) && isRoot(spec.hostPath.path) && policy === 'Recycle') {
    at.child('persistentVolumeReclaimPolicy').forbidden("may not be 'recycle' for a hostPath mount of '/'")
  }
  const className = spec.storageClassName
  if (!isEmpty(className) && isInline) at.child('storageClassName').forbidden(notInline)
  else if (!isEmpty(className)) {
    at.child('storageClassName').invalidAll(className, nameRules.dns1123Subdomain(className, false))
  }
  const mode = spec.volumeMode
  if (!isSet(mode)) return
  if (!isInline) {
    if (!volumeModes.includes(mode)) at.child('volumeMode').notSupported(mode, volumeModes)
  } else if (mode !== 'Filesystem') {
    at.child('volumeMode').forbidden('may not specify volumeMode other than Filesystem in the context of inline volumes')
  }
}

const notInline = 'may not be specified in the context of inline volumes'

function refuseForInline(spec: R<PersistentVolumeSpec>, at: FieldPath): void {
  if (isSet(spec.claimRef)) at.child('claimRef').forbidden(notInline)
  if (!isEmptyMap(spec.capacity)) at.child('capacity').forbidden(notInline)
  if (!isSet(spec.csi)) at.child('csi').required('has to be specified in the context of inline volumes')
  if (isEmpty(spec.accessModes)) at.child('accessModes').required()
  validateAccessModes(spec.accessModes, at.child('accessModes'))
  const policy = spec.persistentVolumeReclaimPolicy
  if (!isEmpty(policy) && policy !== 'Retain') {
    at.child('persistentVolumeReclaimPolicy').forbidden('may only be Retain in the context of inline volumes')
  }
}

function validateVolumeRules(spec: R<PersistentVolumeSpec>, at: FieldPath): void {
  if (isEmpty(spec.accessModes)) at.child('accessModes').required()
  validateAccessModes(spec.accessModes, at.child('accessModes'))
  const names = sortedKeys(spec.capacity)
  const here = at.child('capacity')
  if (names.length === 0) here.required()
  if (own(spec.capacity, 'storage') === undefined || names.length > 1)
    here.notSupported(printCapacity(spec.capacity), ['storage'])
  for (const name of names) {
    const value = own(spec.capacity, name) ?? '0'
    if (sign(amount(value)) < 0) here.key(name).invalidText(amount(value).value().toString(), 'must be a valid resource quantity')
    if (sign(amount(value)) <= 0) here.key(name).invalid(amount(value).toString(), 'must be greater than zero')
  }
  const policy = spec.persistentVolumeReclaimPolicy
  if (!isEmpty(policy) && !reclaimPolicies.includes(policy)) {
    at.child('persistentVolumeReclaimPolicy').notSupported(policy, reclaimPolicies)
  }
}

function printCapacity(capacity: Readonly<Record<string, string>> | undefined) {
  if (!isSet(capacity)) return goText('core.ResourceList(nil)')
  const amounts = joinFormatted(sortedKeys(capacity), (name) => `${goQuote(name)}:${printAmount(own(capacity, name) ?? '0')}`)
  return goText(`core.ResourceList{${amounts}}`)
}

function isRoot(path: string): boolean {
  return path.split('/').every((step) => step === '' || step === '.') && path.startsWith('/')
}

function validateMountOptions(volume: DeepReadonly<PersistentVolume>, errors: ContextErrorList): void {
  const key = `volume.beta.${errors.context.profile.domain}/mount-options`
  if (own(volume.metadata.annotations, key) === undefined) return
  if (mountOptionSources.some((name) => isSet(volume.spec?.[name]))) return
  errors.child('metadata').child('annotations').child(key).forbidden('may not specify mount options for this volume type')
}

function* validateVolumeUpdate(
  volume: DeepReadonly<PersistentVolume>,
  old: DeepReadonly<PersistentVolume>,
  errors: ContextErrorList,
): Work {
  yield* validateVolume(volume, errors, old)
  const spec = volume.spec ?? {}
  const before = old.spec ?? {}
  if (!(yield* hasSameSource(spec, before))) {
    const after = { ...spec, csi: comparableSource(spec, 'csi', before) }
    const diff = yield* structDiff('core.PersistentVolumeSource', { before, after }, errors.context.features)
    const at = errors.child('spec').child('persistentvolumesource')
    at.forbidden(`spec.persistentvolumesource is immutable after creation\n${diff}`)
  }
  if (spec.volumeMode !== before.volumeMode) errors.child('volumeMode').invalid(spec.volumeMode, 'field is immutable')
  yield true
  const { profile } = errors.context
  if (isSet(before.nodeAffinity) && !(yield* isAffinityKept(spec.nodeAffinity, before.nodeAffinity, profile))) {
    const printed = isSet(spec.nodeAffinity)
      ? goText(goStruct('core.VolumeNodeAffinity', { Required: goPointer(spec.nodeAffinity.required, 'core.NodeSelector') }))
      : null
    errors.child('nodeAffinity').invalid(printed, 'field is immutable, except for updating from beta label to GA')
  }
  validateAttributesClassUpdate(volume, old, errors)
}

function* hasSameSource(spec: R<PersistentVolumeSpec>, before: R<PersistentVolumeSpec>): Work<boolean> {
  for (const name of sourceNames) {
    if (!(yield* semanticEqual(comparableSource(spec, name, before), comparableSource(before, name, before)))) return false
  }
  return true
}

/** A source for comparison, with the expansion secret of the old one if it had none: that secret may be added later. */
function comparableSource(
  spec: R<PersistentVolumeSpec>,
  name: keyof PersistentVolumeSpec,
  before: R<PersistentVolumeSpec>,
): unknown {
  if (name !== 'csi' || !isSet(spec.csi) || isSet(before.csi?.controllerExpandSecretRef)) return spec[name]
  const { controllerExpandSecretRef: _, ...rest } = spec.csi
  return rest
}

/**
 * Whether the affinity is unchanged, apart from deprecated labels replaced by their successors. As on kube-apiserver, the successor of
 * any other label is the empty one, which the rest of the validation refuses.
 */
function* isAffinityKept(
  now: R<VolumeNodeAffinity> | undefined,
  before: R<VolumeNodeAffinity>,
  profile: NamingProfile,
): Work<boolean> {
  if (yield* semanticEqual(now, before)) return true
  yield true
  const terms = before.required?.nodeSelectorTerms?.map((term, i) => ({
    ...term,
    matchExpressions: term.matchExpressions?.map((e, j) => {
      const renamed = newerNodeLabel(e.key, profile) ?? ''
      const wanted = now?.required?.nodeSelectorTerms?.[i]?.matchExpressions?.[j]?.key
      return (wanted ?? '') === renamed && wanted !== undefined ? { ...e, key: renamed } : e
    }),
  }))
  yield true
  return yield* semanticEqual(now?.required?.nodeSelectorTerms, terms)
}

function* defaultVolume(volume: PersistentVolume): Work {
  volume.spec ??= {}
  const { spec } = volume
  if (isEmpty(spec.persistentVolumeReclaimPolicy)) spec.persistentVolumeReclaimPolicy = 'Retain'
  spec.volumeMode ??= 'Filesystem'
  if (isSet(spec.hostPath)) spec.hostPath.type ??= ''
  defaultVendorSource(spec)
  yield* roundUp(spec.capacity)
  volume.status ??= {}
  if (isEmpty(volume.status.phase)) volume.status.phase = 'Pending'
}

/** The name of the class is a member behind a feature gate. */
function dropAttributesClass(
  volume: PersistentVolume,
  old: DeepReadonly<PersistentVolume> | undefined,
  { features }: StrategyContext,
): void {
  if (gateEnabled('VolumeAttributesClass', features) || isSet(old?.spec?.volumeAttributesClassName)) return
  delete volume.spec?.volumeAttributesClassName
}

function currentTime(context: StrategyContext): string {
  return formatTime(context.clock.now())
}

export const persistentVolumeStrategy = defineStrategy<PersistentVolume>({
  loadDifferences: loadStructDiff,
  requiredMembers: { '': [lunOfVolume] },
  defaults: defaultVolume,
  prepareForCreate(volume, context) {
    dropAttributesClass(volume, undefined, context)
    volume.status = { phase: 'Pending', lastPhaseTransitionTime: currentTime(context) }
  },
  *prepareForUpdate(volume, old, context) {
    yield* keepMembers(volume, old, 'status')
    dropAttributesClass(volume, old, context)
  },
  validate: creationRules(function* (errors, volume) {
    yield* validateVolume(volume, errors)
    validateMountOptions(volume, errors)
  }),
  validateUpdate: updateRules(function* (errors, volume, old) {
    yield* validateVolume(volume, errors, old)
    validateMountOptions(volume, errors)
    yield* validateVolumeUpdate(volume, old, errors)
  }),
  warnings(volume, _old, { profile }) {
    return collectWarnings((texts) => {
      for (const [name, detail] of [
        ['storage-class', 'deprecated since v1.8; use "storageClassName" attribute instead'],
        ['mount-options', 'deprecated since v1.31; use "mountOptions" attribute instead'],
      ] as const) {
        const key = `volume.beta.${profile.domain}/${name}`
        if (own(volume.metadata.annotations, key) !== undefined) texts.push(`metadata.annotations[${key}]: ${detail}`)
      }
      if (volume.spec?.persistentVolumeReclaimPolicy === 'Recycle') {
        const advice =
          'The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.'
        texts.push(`spec.persistentVolumeReclaimPolicy: ${advice}`)
      }
      for (const [i, term] of (volume.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? []).entries())
        warnNodeTerm(texts, term, { path: `spec.nodeAffinity.required.nodeSelectorTerms[${i}]`, profile })
      for (const [name, text] of deprecatedSources) {
        if (name === 'flocker' || name === 'quobyte') continue
        if (isSet(volume.spec?.[name as keyof PersistentVolumeSpec])) texts.push(`spec.${text}`)
      }
    })
  },
  deleteResponse: 'Object',
  subresources: {
    status: {
      *prepareForUpdate(volume, old, context) {
        yield* keepMembers(volume, old, 'spec')
        volume.status ??= {}
        const before = old.status?.lastPhaseTransitionTime
        const changed = volume.status.phase !== old.status?.phase
        const given = volume.status.lastPhaseTransitionTime
        if (changed && (!isSet(given) || given === before)) volume.status.lastPhaseTransitionTime = currentTime(context)
        else if (!changed && !isSet(given) && isSet(before)) volume.status.lastPhaseTransitionTime = before
      },
      validateUpdate: updateRules(function* (errors, volume, old) {
        yield* validateMetadataUpdate(volume, old, errors)
        if (isEmpty(volume.metadata.resourceVersion)) errors.child('resourceVersion').required()
      }),
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
