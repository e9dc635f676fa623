/** CSIDriver. @see Configuration and storage specification, 2.8 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { CSIDriver, CSIDriverSpec } from '../../../types/storage-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.direct.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { goTexts } from '../../shared/go-form.ts'
import { raiseGeneration, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { creationRules, defineStrategy, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'

const groupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const lifecycleModes = ['Persistent', 'Ephemeral']
const longestName = 63
const shortestToken = 600
const longestToken = 2 ** 32
const shortestPeriod = 10

/** Service account tokens for the driver; audiences must be unique. */
function validateTokenRequests(spec: R<CSIDriverSpec>, at: FieldPath): void {
  const audiences = new Set<string>()
  for (const [i, { audience, expirationSeconds: seconds }] of (spec.tokenRequests ?? []).entries()) {
    const here = at.index(i)
    if (audiences.has(audience)) {
      here.child('audience').duplicate(audience)
      continue
    }
    audiences.add(audience)
    if (!isSet(seconds)) continue
    const place = here.child('expirationSeconds')
    if (seconds < shortestToken) place.invalid(seconds, 'may not specify a duration less than 10 minutes')
    if (seconds > longestToken) place.invalid(seconds, 'may not specify a duration larger than 2^32 seconds')
  }
}

function* validateDriver(driver: DeepReadonly<CSIDriver>, errors: ContextErrorList): Work {
  yield* validateMetadata(driver, errors, { namespaced: false })
  // `Differs:` kube-apiserver accepts longer names; S90.
  const name = driver.metadata.name ?? ''
  if (name.length > longestName) errors.child('metadata').child('name').tooLong(name, longestName)
  validateSpec(driver.spec ?? {}, errors.child('spec'))
}

function validateSpec(spec: R<CSIDriverSpec>, at: FieldPath): void {
  for (const member of ['attachRequired', 'podInfoOnMount', 'storageCapacity'] as const) {
    if (!isSet(spec[member])) at.child(member).required()
  }
  const policy = spec.fsGroupPolicy
  if (isSet(policy) && !groupPolicies.includes(policy)) at.child('fsGroupPolicy').notSupported(policy, groupPolicies)
  validateTokenRequests(spec, at.child('tokenRequests'))
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (!lifecycleModes.includes(mode)) at.child('volumeLifecycleModes').notSupported(mode, lifecycleModes)
  }
  validatePeriod(spec, at)
  const { serviceAccountTokenInSecrets: inSecrets, preventPodSchedulingIfMissing } = spec as LaterMembers
  if (isSet(inSecrets) && isEmpty(spec.tokenRequests)) {
    const detail = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    at.child('serviceAccountTokenInSecrets').invalid(inSecrets, detail)
  }
  if (!isSet(preventPodSchedulingIfMissing) && gateEnabled('VolumeLimitScaling', at.errors.context.features))
    at.child('preventPodSchedulingIfMissing').required()
}

/** Members of 1.35 and 1.36. */
interface LaterMembers {
  serviceAccountTokenInSecrets?: boolean
  preventPodSchedulingIfMissing?: boolean
}

function validatePeriod(spec: R<CSIDriverSpec>, at: FieldPath): void {
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (isSet(period) && period < shortestPeriod) {
    at.child('nodeAllocatableUpdatePeriodSeconds').invalid(period, `must be greater than or equal to ${shortestPeriod} seconds`)
  }
}

function validateImmutableFields(spec: R<CSIDriverSpec>, old: R<CSIDriverSpec>, at: FieldPath): void {
  const frozen = 'field is immutable'
  if (spec.attachRequired !== old.attachRequired) at.child('attachedRequired').invalid(spec.attachRequired, frozen)
  // `Differs:` on kube-apiserver the member is mutable; S95.
  if (spec.fsGroupPolicy !== old.fsGroupPolicy) at.child('fsGroupPolicy').invalid(spec.fsGroupPolicy, frozen)
  if (!semanticEqual(spec.volumeLifecycleModes, old.volumeLifecycleModes)) {
    at.child('volumeLifecycleModes').invalid(goTexts('storage.VolumeLifecycleMode', spec.volumeLifecycleModes), frozen)
  }
}

const table: readonly GatedFields[] = [
  { gate: 'SELinuxMountReadWriteOncePod', paths: ['spec.seLinuxMount'] },
  { gate: 'MutableCSINodeAllocatableCount', paths: ['spec.nodeAllocatableUpdatePeriodSeconds'] },
  { gate: 'CSIServiceAccountTokenSecrets', paths: ['spec.serviceAccountTokenInSecrets'] },
  { gate: 'VolumeLimitScaling', paths: ['spec.preventPodSchedulingIfMissing'] },
]

export const csiDriverStrategy = defineStrategy<CSIDriver>({
  allowUnconditionalUpdate: false,
  // Decoding gives an absent member its zero value, so only the body shows that it is missing; S92.
  requiredMembers: { '': [['spec']] },
  defaults(driver, _version, _profile, { features } = {}) {
    driver.spec ??= {}
    const { spec } = driver
    spec.attachRequired ??= true
    spec.podInfoOnMount ??= false
    spec.storageCapacity ??= false
    spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
    if (isEmpty(spec.volumeLifecycleModes)) spec.volumeLifecycleModes = ['Persistent']
    spec.requiresRepublish ??= false
    spec.seLinuxMount ??= false
    if (features !== undefined && gateEnabled('VolumeLimitScaling', features))
      (spec as LaterMembers).preventPodSchedulingIfMissing ??= false
  },
  prepareForCreate(driver, { features }) {
    dropGatedFields(driver, undefined, { table, features })
  },
  *prepareForUpdate(driver, old, { features }) {
    dropGatedFields(driver, old, { table, features })
    yield* raiseGeneration(driver, old, 'spec')
  },
  validate: creationRules((errors, driver) => validateDriver(driver, errors)),
  validateUpdate: updateRules(function* (errors, driver, old) {
    yield* validateMetadataUpdate(driver, old, errors)
    const at = errors.child('spec')
    validateSpec(driver.spec ?? {}, at)
    validateImmutableFields(driver.spec ?? {}, old.spec ?? {}, at)
  }),
  warnings(driver, old, { features }) {
    const { tokenRequests, serviceAccountTokenInSecrets } = (driver.spec ?? {}) as R<CSIDriverSpec> & LaterMembers
    if (!gateEnabled('CSIServiceAccountTokenSecrets', features)) return []
    if (isEmpty(tokenRequests) || isSet(serviceAccountTokenInSecrets)) return []
    if (old !== undefined && semanticEqual(tokenRequests, old.spec?.tokenRequests)) return []
    return [
      'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes',
    ]
  },
  deleteResponse: 'Object',
})
