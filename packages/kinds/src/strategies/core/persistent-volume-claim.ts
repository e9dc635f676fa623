/** Persistent volume claims. @see Configuration and storage specification, 2.4 */
import { type DeepReadonly, type NamingProfile, validateQualifiedNameFormat } from '@krmkit/meta'
import type { PersistentVolumeClaim, PersistentVolumeClaimSpec } from '../../types/core-v1.generated.ts'
import { checkClaimSpec } from '../shared/claim-spec.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { roundUp } from '../shared/pod-defaults.ts'
import { warnAmounts } from '../shared/pod-warnings.ts'
import { amount, compareAmounts, sign } from '../shared/quantities.ts'
import { checkResourceAmount, isNativeResource } from '../shared/resource-names.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { copy, isEmpty, isSet, own, type R, semanticEqual, sortedKeys } from '../shared/values.ts'

type Claim = PersistentVolumeClaim
type Spec = R<PersistentVolumeClaimSpec>

const emptySpec: Spec = {}

/** A `dataSource` may name a claim or a snapshot; anything else is dropped without a word. */
function isKnownSource(source: NonNullable<Spec['dataSource']>, { apiDomain }: NamingProfile): boolean {
  const group = source.apiGroup ?? ''
  if (source.kind === 'PersistentVolumeClaim') return group === ''
  return source.kind === 'VolumeSnapshot' && group === `snapshot.storage.${apiDomain}`
}

/** Drops what `dataSource` may not name, and copies one of the two members to the other. */
function joinSources(spec: PersistentVolumeClaimSpec, old: Spec | undefined, profile: NamingProfile): void {
  if (isSet(spec.dataSource) && !isSet(old?.dataSource) && !isKnownSource(spec.dataSource, profile)) delete spec.dataSource
  if (isSet(spec.dataSource) && !isSet(spec.dataSourceRef)) {
    const { apiGroup, kind, name } = spec.dataSource
    spec.dataSourceRef = { ...(apiGroup === undefined ? {} : { apiGroup }), kind, name }
  } else if (isSet(spec.dataSourceRef) && !isSet(spec.dataSource) && isEmpty(spec.dataSourceRef.namespace)) {
    const { apiGroup, kind, name } = spec.dataSourceRef
    spec.dataSource = { ...(apiGroup === undefined ? {} : { apiGroup }), kind, name }
  }
}

function checkClaim(claim: DeepReadonly<Claim>, report: Report): void {
  checkMetadata(claim, report, { namespaced: true })
  checkClaimSpec(claim.spec ?? emptySpec, report.at('spec'))
}

const immutable = 'spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n'

function checkUpdate(claim: DeepReadonly<Claim>, old: DeepReadonly<Claim>, report: Report): void {
  checkMetadataUpdate(claim, old, report)
  checkClaimSpec(claim.spec ?? emptySpec, report.at('spec'))
  const spec = copy<PersistentVolumeClaimSpec>(claim.spec ?? emptySpec)
  const before = copy<PersistentVolumeClaimSpec>(old.spec ?? emptySpec)
  const size = own(claim.spec?.resources?.requests, 'storage')
  const oldSize = own(old.spec?.resources?.requests, 'storage')
  if (isEmpty(before.volumeName)) delete spec.volumeName
  if (isEmpty(before.volumeName)) delete before.volumeName
  allowClassChange(claim, old, { spec, before, report })
  if (claim.status?.phase === 'Bound' && isSet(spec.resources?.requests)) {
    if (oldSize === undefined) delete spec.resources.requests.storage
    else spec.resources.requests.storage = oldSize
    if (isSet(spec.volumeAttributesClassName)) before.volumeAttributesClassName = spec.volumeAttributesClassName
  }
  if (!semanticEqual(spec, before)) report.at('spec').forbidden(immutable)
  if (compareAmounts(size, oldSize) < 0 && compareAmounts(size, own(old.status?.capacity, 'storage')) <= 0) {
    const at = report.at('spec').child('resources').child('requests').child('storage')
    at.forbidden('field can not be less than status.capacity')
  }
  if (claim.spec?.volumeMode !== old.spec?.volumeMode)
    report.at('volumeMode').invalid(claim.spec?.volumeMode, 'field is immutable')
}

interface ClassChange {
  readonly spec: PersistentVolumeClaimSpec
  readonly before: PersistentVolumeClaimSpec
  readonly report: Report
}

/** The class may move from the annotation to its own member, or be set once when there was none. */
function allowClassChange(claim: DeepReadonly<Claim>, old: DeepReadonly<Claim>, { spec, before, report }: ClassChange): void {
  const key = `volume.beta.${report.context.profile.domain}/storage-class`
  const now = own(claim.metadata.annotations, key)
  const then = own(old.metadata.annotations, key)
  if (then !== undefined && now === undefined && !isSet(before.storageClassName) && spec.storageClassName === then) {
    delete spec.storageClassName
    return
  }
  if (now !== then)
    report
      .at('metadata')
      .child('annotations')
      .child(key)
      .invalid(now ?? '', 'field is immutable')
  if (then === undefined && now === undefined && !isSet(before.storageClassName) && isSet(spec.storageClassName))
    delete spec.storageClassName
}

function checkStatus(claim: DeepReadonly<Claim>, at: FieldPath): void {
  const { capacity, allocatedResources, allocatedResourceStatuses, conditions } = claim.status ?? {}
  for (const name of sortedKeys(capacity)) {
    const value = amount(own(capacity, name))
    if (sign(value) < 0) at.child('capacity').key(name).invalidText(value.value().toString(), 'must be a valid resource quantity')
  }
  // `Differs:` the stock server takes conditions without type and status; S65.
  for (const [i, condition] of (conditions ?? []).entries()) {
    const here = at.child('conditions').index(i)
    if (isEmpty(condition.type)) here.child('type').required()
    if (isEmpty(condition.status)) here.child('status').required()
  }
  const statusesAt = at.child('allocatedResourceStatus')
  for (const name of sortedKeys(allocatedResourceStatuses)) {
    checkGrowingResource(name, statusesAt)
    if (!resizeStatuses.includes(own(allocatedResourceStatuses, name) ?? '')) statusesAt.notSupported(name, resizeStatuses)
  }
  for (const name of sortedKeys(allocatedResources)) {
    if (!checkGrowingResource(name, at.child('allocatedResources'))) continue
    const here = at.child('allocatedResources').key(name)
    const given = own(allocatedResources, name) ?? '0'
    const value = amount(given)
    if (sign(value) < 0) here.invalidText(value.value().toString(), 'must be a valid resource quantity')
    else checkResourceAmount('storage', given, here)
  }
}

const resizeStatuses = [
  'ControllerResizeInProgress',
  'ControllerResizeInfeasible',
  'NodeResizeInProgress',
  'NodeResizeInfeasible',
  'NodeResizePending',
]

/** Storage, or what somebody else has named. */
function checkGrowingResource(name: string, at: FieldPath): boolean {
  const wrong = validateQualifiedNameFormat(name)
  at.invalidAll(name, wrong)
  if (wrong.length > 0) return false
  const isNative = isNativeResource(name, at.profile.domain)
  if (isNative && name !== 'storage') at.notSupported(name, ['storage'])
  return !isNative || name === 'storage'
}

function dropDisabled(spec: PersistentVolumeClaimSpec, old: Spec | undefined, enabled: (gate: string) => boolean): void {
  if (!enabled('VolumeAttributesClass') && !isSet(old?.volumeAttributesClassName)) delete spec.volumeAttributesClassName
  if (!enabled('CrossNamespaceVolumeDataSource') && isEmpty(old?.dataSourceRef?.namespace)) delete spec.dataSourceRef?.namespace
}

export const persistentVolumeClaimStrategy = defineStrategy<Claim>({
  defaults(claim) {
    claim.spec ??= {}
    claim.spec.volumeMode ??= 'Filesystem'
    roundUp(claim.spec.resources?.limits)
    roundUp(claim.spec.resources?.requests)
    claim.status ??= {}
    if (isEmpty(claim.status.phase)) claim.status.phase = 'Pending'
    roundUp(claim.status.capacity)
    roundUp(claim.status.allocatedResources)
  },
  prepareForCreate(claim, context) {
    claim.status = { phase: 'Pending' }
    if (!isSet(claim.spec)) return
    dropDisabled(claim.spec, undefined, (gate) => context.features.enabled(gate))
    joinSources(claim.spec, undefined, context.profile)
  },
  prepareForUpdate(claim, old, context) {
    keepMembers(claim, old, 'status')
    if (!isSet(claim.spec)) return
    dropDisabled(claim.spec, old.spec, (gate) => context.features.enabled(gate))
    joinSources(claim.spec, old.spec, context.profile)
  },
  validate(claim, context) {
    return findings(context, (report) => checkClaim(claim, report))
  },
  validateUpdate(claim, old, context) {
    return findings(context, (report) => {
      checkClaim(claim, report)
      checkUpdate(claim, old, report)
    })
  },
  warnings(claim, _old, { profile }) {
    const texts: string[] = []
    const key = `volume.beta.${profile.domain}/storage-class`
    if (own(claim.metadata.annotations, key) !== undefined) {
      texts.push(`metadata.annotations[${key}]: deprecated since v1.8; use "storageClassName" attribute instead`)
    }
    warnAmounts(texts, claim.spec?.resources?.requests, 'spec.resources.requests')
    warnAmounts(texts, claim.spec?.resources?.limits, 'spec.resources.limits')
    return texts
  },
  deleteAnswer: 'Object',
  subresources: {
    status: {
      prepareForUpdate(claim, old) {
        keepMembers(claim, old, 'spec')
      },
      validateUpdate(claim, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(claim, old, report)
          if (isEmpty(claim.metadata.resourceVersion)) report.at('resourceVersion').required()
          if (isEmpty(claim.spec?.accessModes)) report.at('Spec').child('accessModes').required()
          checkStatus(claim, report.at('status'))
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
