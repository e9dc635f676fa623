/** PersistentVolumeClaim. @see Configuration and storage specification, 2.4 */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goText } from '@krmkit/meta/go-text'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import type { StrategyContext } from '../../../interfaces.ts'
import { preparationWork } from '../../../preparation.ts'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../../types/core-v1.generated.ts'
import { validateClaimSpec } from '../../shared/claim-spec.ts'
import { copy } from '../../shared/copies.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields, type GatedFields } from '../../shared/gated-fields.ts'
import { withMembers, withoutMember } from '../../shared/map-members.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { warnStorage } from '../../shared/pod-warnings.ts'
import { amount, compareAmounts, sign } from '../../shared/quantities.ts'
import { isNativeResource, validateResourceAmount } from '../../shared/resource-names.ts'
import { roundUp } from '../../shared/round-up.ts'
import { sortedKeys } from '../../shared/sorted-keys.direct.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { loadStructDiff, structDiff } from '../../shared/struct-diff.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'

type Claim = PersistentVolumeClaim
type Spec = R<PersistentVolumeClaimSpec>

const emptySpec: Spec = {}

/** Whether `dataSource` names a claim or a snapshot; other kinds are dropped silently. */
function isKnownSource(source: NonNullable<Spec['dataSource']>, { apiDomain }: NamingProfile): boolean {
  const group = source.apiGroup ?? ''
  if (source.kind === 'PersistentVolumeClaim') return group === ''
  return source.kind === 'VolumeSnapshot' && group === `snapshot.storage.${apiDomain}`
}

/** Drops an unknown `dataSource` that is the only source, and copies `dataSource` and `dataSourceRef` to each other. */
function joinSources(
  spec: PersistentVolumeClaimSpec,
  old: Spec | undefined,
  { features, profile }: Pick<StrategyContext, 'features' | 'profile'>,
): void {
  const hadSource = isSet(old?.dataSource) || isSet(old?.dataSourceRef)
  const replaces = hadSource || isSet(spec.dataSourceRef)
  if (isSet(spec.dataSource) && !replaces && !isKnownSource(spec.dataSource, profile)) delete spec.dataSource
  if (!gateEnabled('AnyVolumeDataSource', features)) return
  if (isSet(spec.dataSource) && !isSet(spec.dataSourceRef)) {
    const { apiGroup, kind, name } = spec.dataSource
    spec.dataSourceRef = { ...(apiGroup === undefined ? {} : { apiGroup }), kind, name }
  } else if (isSet(spec.dataSourceRef) && !isSet(spec.dataSource) && isEmpty(spec.dataSourceRef.namespace)) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    spec.dataSource = { ...(apiGroup === undefined ? {} : { apiGroup }), kind, name }
  }
}

function* validateClaim(
  claim: DeepReadonly<Claim>,
  { old, address = '0x0' }: { readonly old?: DeepReadonly<Claim>; readonly address?: string },
  errors: ContextErrorList,
): Work {
  yield* validateMetadata(claim, errors, { namespaced: true })
  const { dataSource, dataSourceRef, volumeAttributesClassName } = old?.spec ?? emptySpec
  validateClaimSpec(claim.spec ?? emptySpec, errors.child('spec'), {
    address,
    allowsAnyGroup: isSet(dataSource?.apiGroup) || isSet(dataSourceRef?.apiGroup),
    hasAttributesClass: isSet(volumeAttributesClassName) || gateEnabled('VolumeAttributesClass', errors.context.features),
  })
}

const immutable = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'

function* validateClaimUpdate(claim: DeepReadonly<Claim>, old: DeepReadonly<Claim>, errors: ContextErrorList): Work {
  yield* validateMetadataUpdate(claim, old, errors)
  yield* validateClaim(claim, { old, address: '0x1' }, errors)
  const spec = yield* copy<PersistentVolumeClaimSpec>(claim.spec ?? emptySpec)
  const before = yield* copy<PersistentVolumeClaimSpec>(old.spec ?? emptySpec)
  const size = own(claim.spec?.resources?.requests, 'storage')
  const oldSize = own(old.spec?.resources?.requests, 'storage')
  if (isEmpty(before.volumeName) && spec.volumeName !== undefined) before.volumeName = spec.volumeName
  allowClassChange(claim, old, { spec, before, errors })
  if (claim.status?.phase === 'Bound' && isSet(spec.resources?.requests)) {
    if (oldSize === undefined) spec.resources.requests = yield* withoutMember(spec.resources.requests, 'storage')
    else spec.resources.requests = yield* withMembers(spec.resources.requests, { storage: oldSize })
    if (isSet(spec.volumeAttributesClassName) || errors.context.features.release.atLeast('1.34')) {
      if (isSet(before.volumeAttributesClassName)) spec.volumeAttributesClassName = before.volumeAttributesClassName
      else delete spec.volumeAttributesClassName
    }
  }
  if (!(yield* semanticEqual(spec, before))) {
    const diff = yield* structDiff('core.PersistentVolumeClaimSpec', { before, after: spec }, errors.context.features)
    errors.child('spec').forbidden(immutable + diff)
  }
  if (compareAmounts(size, oldSize) < 0) {
    const at = errors.child('spec').child('resources').child('requests').child('storage')
    if (!recoversExpansion(old, errors)) at.forbidden('field can not be less than previous value')
    else if (compareAmounts(size, own(old.status?.capacity, 'storage')) <= 0)
      at.forbidden('field can not be less than status.capacity')
  }
  if (claim.spec?.volumeMode !== old.spec?.volumeMode)
    errors.child('volumeMode').invalid(claim.spec?.volumeMode, 'field is immutable')
  validateAttributesClassUpdate(claim, old, errors)
}

/** Whether a failed expansion can be reverted: the gate is on, or the claim has used the feature. */
function recoversExpansion({ status }: DeepReadonly<Claim>, { context }: ContextErrorList): boolean {
  if (gateEnabled('RecoverVolumeExpansionFailure', context.features)) return true
  return isSet(status?.allocatedResources) || isSet(status?.allocatedResourceStatuses)
}

function validateAttributesClassUpdate(claim: DeepReadonly<Claim>, old: DeepReadonly<Claim>, errors: ContextErrorList): void {
  const [now, before] = [claim.spec?.volumeAttributesClassName, old.spec?.volumeAttributesClassName]
  if (now === before) return
  const at = errors.child('spec').child('volumeAttributesClassName')
  if (!gateEnabled('VolumeAttributesClass', errors.context.features))
    at.forbidden('update is forbidden when the VolumeAttributesClass feature gate is disabled')
  // Since 1.34 a class may be unset until it is in use.
  const isLater = errors.context.features.release.atLeast('1.34')
  if (!isSet(isLater ? old.status?.currentVolumeAttributesClassName : before)) return
  const [kind, why] = isLater
    ? ['empty string', 'is forbidden when status.currentVolumeAttributesClassName is not nil']
    : ['an empty string', 'is forbidden']
  const from = isLater ? 'update' : 'update from non-nil value'
  if (!isSet(now)) at.forbidden(`${from} to nil ${why}`)
  else if (now === '') at.forbidden(`${from} to ${kind} ${why}`)
}

interface ClassChange {
  readonly spec: PersistentVolumeClaimSpec
  readonly before: PersistentVolumeClaimSpec
  readonly errors: ContextErrorList
}

/** Allows the class to move from the annotation to its member, or to be set once. */
function allowClassChange(claim: DeepReadonly<Claim>, old: DeepReadonly<Claim>, { spec, before, errors }: ClassChange): void {
  const key = `volume.beta.${errors.context.profile.domain}/storage-class`
  const now = own(claim.metadata.annotations, key)
  const then = own(old.metadata.annotations, key)
  if (then !== undefined && (now ?? then) === then && !isSet(before.storageClassName) && spec.storageClassName === then) {
    delete spec.storageClassName
    return
  }
  if ((now ?? '') !== (then ?? ''))
    errors
      .child('metadata')
      .child('annotations')
      .child(key)
      .invalid(now ?? '', 'field is immutable')
  const { storageClassName } = spec
  if (isSet(storageClassName) && !isSet(before.storageClassName) && (then ?? storageClassName) === storageClassName)
    delete spec.storageClassName
}

function validateStatus(claim: DeepReadonly<Claim>, at: FieldPath): void {
  const { capacity, allocatedResources, allocatedResourceStatuses, conditions } = claim.status ?? {}
  for (const name of sortedKeys(capacity)) {
    const value = amount(own(capacity, name))
    if (sign(value) < 0) at.child('capacity').key(name).invalidText(value.value().toString(), 'must be a valid resource quantity')
  }
  // `Differs:` kube-apiserver accepts conditions without type and status; S65.
  for (const [i, condition] of (conditions ?? []).entries()) {
    const here = at.child('conditions').index(i)
    if (isEmpty(condition.type)) here.child('type').required()
    if (isEmpty(condition.status)) here.child('status').required()
  }
  const isLater = at.errors.context.features.release.atLeast('1.34')
  const statusesAt = at.child(isLater ? 'allocatedResourceStatuses' : 'allocatedResourceStatus')
  for (const name of sortedKeys(allocatedResourceStatuses)) {
    validateGrowingResource(name, statusesAt)
    if (!resizeStatuses.includes(own(allocatedResourceStatuses, name) ?? ''))
      statusesAt.notSupported(goText(name), resizeStatuses)
  }
  for (const name of sortedKeys(allocatedResources)) {
    if (!validateGrowingResource(name, at.child('allocatedResources'))) continue
    const here = at.child('allocatedResources').key(name)
    const given = own(allocatedResources, name) ?? '0'
    const value = amount(given)
    if (sign(value) < 0) here.invalidText(value.value().toString(), 'must be a valid resource quantity')
    else validateResourceAmount('storage', given, here)
  }
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** Only storage and resources with a domain may be listed. */
function validateGrowingResource(name: string, at: FieldPath): boolean {
  const wrong = validateQualifiedNameFormat(name)
  at.invalidAll(name, wrong)
  if (wrong.length > 0) return false
  const isNative = isNativeResource(name, at.profile.domain)
  if (isNative && name !== 'storage') at.notSupported(name, ['storage'])
  return !isNative || name === 'storage'
}

const table: readonly GatedFields[] = [
  { gate: 'VolumeAttributesClass', paths: ['spec.volumeAttributesClassName'] },
  { gate: 'AnyVolumeDataSource', paths: ['spec.dataSourceRef'] },
  { gate: 'CrossNamespaceVolumeDataSource', paths: ['spec.dataSourceRef'], when: 'spec.dataSourceRef.namespace' },
]

const statusTable: readonly GatedFields[] = [
  { gate: 'VolumeAttributesClass', paths: ['status.currentVolumeAttributesClassName'] },
  { gate: 'VolumeAttributesClass', paths: ['status.modifyVolumeStatus'] },
  { gate: 'RecoverVolumeExpansionFailure', paths: ['status.allocatedResources'] },
  { gate: 'RecoverVolumeExpansionFailure', paths: ['status.allocatedResourceStatuses'] },
]

const claimStatus = statusSubresource<Claim>((claim, errors) => {
  if (isEmpty(claim.metadata.resourceVersion)) errors.child('resourceVersion').required()
  if (isEmpty(claim.spec?.accessModes)) errors.child('Spec').child('accessModes').required()
  validateStatus(claim, errors.child('status'))
})

function* defaultClaim(claim: Claim): Work {
  claim.spec ??= {}
  claim.spec.volumeMode ??= 'Filesystem'
  yield* roundUp(claim.spec.resources?.limits)
  yield* roundUp(claim.spec.resources?.requests)
  claim.status ??= {}
  if (isEmpty(claim.status.phase)) claim.status.phase = 'Pending'
  yield* roundUp(claim.status.capacity)
  yield* roundUp(claim.status.allocatedResources)
}

export const persistentVolumeClaimStrategy = defineStrategy<Claim>({
  loadDifferences: loadStructDiff,
  defaults: defaultClaim,
  prepareForCreate(claim, context) {
    claim.status = { phase: 'Pending' }
    if (!isSet(claim.spec)) return
    dropGatedFields(claim, undefined, { table, features: context.features })
    joinSources(claim.spec, undefined, context)
  },
  *prepareForUpdate(claim, old, context) {
    yield* keepMembers(claim, old, 'status')
    if (!isSet(claim.spec)) return
    dropGatedFields(claim, old, { table, features: context.features })
    joinSources(claim.spec, old.spec, context)
  },
  validate: creationRules((errors, claim) => validateClaim(claim, {}, errors)),
  validateUpdate: updateRules(function* (errors, claim, old) {
    // kube-apiserver before 1.35 validates the claim twice on update.
    if (!errors.context.features.release.atLeast('1.35')) yield* validateClaim(claim, { old }, errors)
    yield* validateClaimUpdate(claim, old, errors)
  }),
  warnings(claim, _old, { profile }) {
    const texts: string[] = []
    const key = `volume.beta.${profile.domain}/storage-class`
    if (own(claim.metadata.annotations, key) !== undefined) {
      texts.push(`metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`)
    }
    warnStorage(texts, claim.spec?.resources, 'spec.resources')
    return texts
  },
  deleteResponse: 'Object',
  subresources: {
    status: {
      ...claimStatus,
      *prepareForUpdate(claim, old, context) {
        yield* preparationWork(claimStatus.prepareForUpdate(claim, old, context))
        dropGatedFields(claim, old, { table: statusTable, features: context.features })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
