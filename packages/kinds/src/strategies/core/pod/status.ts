/** The status sub-resource of pods. */

import { parseIP } from '@krmkit/base/ip'
import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, joinFormatted } from '@krmkit/meta/go-text'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { Pod, PodIP, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import { addressWarnings } from '../../shared/address-warnings.ts'
import { copy } from '../../shared/copies.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields } from '../../shared/gated-fields.ts'
import { goStruct } from '../../shared/go-form.ts'
import { keepMembers, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsSubdomain, validateQualifiedName } from '../../shared/names.ts'
import { keptTexts, validateIpAddress } from '../../shared/older-addresses.ts'
import { podStatusGates } from '../../shared/pod-gates.ts'
import { roundUp } from '../../shared/round-up.direct.ts'
import { updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateContainerStatuses, validateTransitions } from './container-statuses.ts'
import { validateAnnotationUpdates } from './update-validation.ts'

/**
 * `podIP` equals the first item of `podIPs`; `podIP` decides. The addresses of the host are not joined in this way. Amounts are
 * rounded up to thousandths.
 */
export function defaultPodStatus(pod: Pod): void {
  const { status } = pod
  if (!isSet(status)) return
  for (const name of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const) {
    for (const { allocatedResources, resources } of status[name] ?? []) {
      roundUp(allocatedResources)
      roundUp(resources?.limits)
      roundUp(resources?.requests)
    }
  }
  if (!isEmpty(status.podIP) && status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  else if (isEmpty(status.podIP) && !isEmpty(status.podIPs?.[0]?.ip)) status.podIP = status.podIPs?.[0]?.ip as string
}

export const podStatusStrategy: SubresourceStrategy<Pod> = {
  *prepareForUpdate(pod, old, { features }) {
    yield* keepMembers(pod, old, 'spec')
    delete pod.metadata.deletionTimestamp
    if (isSet(old.metadata.deletionTimestamp)) pod.metadata.deletionTimestamp = old.metadata.deletionTimestamp
    delete pod.metadata.ownerReferences
    if (isSet(old.metadata.ownerReferences))
      pod.metadata.ownerReferences = yield* copy<OwnerReference[]>(old.metadata.ownerReferences)
    if (old.metadata.generation === undefined) delete pod.metadata.generation
    else pod.metadata.generation = old.metadata.generation
    pod.status ??= {}
    if (isEmpty(pod.status.qosClass) && isSet(old.status?.qosClass)) pod.status.qosClass = old.status.qosClass
    keepObservedGenerations(pod.status, old.status ?? {})
    dropGatedFields(pod, old, { table: podStatusGates, features })
  },
  validateUpdate: updateRules(function* (errors, pod, old) {
    yield* validateMetadataUpdate(pod, old, errors)
    yield* validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
    validateStatus(pod, old, errors.child('status'))
  }),
  warnings({ status }) {
    const { podIPs = [], hostIPs = [] } = status ?? {}
    return [
      ...podIPs.flatMap(({ ip = '' }, i) => addressWarnings(`status.podIPs[${i}].ip`, ip)),
      ...hostIPs.flatMap(({ ip = '' }, i) => addressWarnings(`status.hostIPs[${i}].ip`, ip)),
    ]
  },
}

/** A client that does not know the observed generations leaves them as they are. */
function keepObservedGenerations(status: PodStatus, old: R<PodStatus>): void {
  if (!status.observedGeneration && isSet(old.observedGeneration)) status.observedGeneration = old.observedGeneration
  for (const condition of status.conditions ?? []) {
    const before = old.conditions?.find(({ type }) => type === condition.type)?.observedGeneration
    if (!condition.observedGeneration && isSet(before)) condition.observedGeneration = before
  }
}

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])

function validateStatus(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, at: FieldPath): void {
  const status = pod.status ?? {}
  const before = old.status ?? {}
  for (const [i, condition] of (status.conditions ?? []).entries()) {
    const here = at.child('conditions').index(i)
    validateGeneration(condition.observedGeneration, here)
    if (!ownConditions.has(condition.type)) validateQualifiedName(condition.type, here.child('Type'))
  }
  const nominated = status.nominatedNodeName
  if (!isEmpty(nominated) && nominated !== before.nominatedNodeName) {
    validateDnsSubdomain(nominated, at.child('nominatedNodeName'))
    if (!isEmpty(old.spec?.nodeName) && gateEnabled('ClearingNominatedNodeNameAfterBinding', at.errors.context.features))
      at.child('nominatedNodeName').forbidden('may not be set on pods that are already bound to a node')
  }
  validateGeneration(status.observedGeneration, at)
  if ((status.qosClass ?? '') !== (before.qosClass ?? '')) {
    at.child('qosClass').invalid(status.qosClass ?? '', 'field is immutable')
  }
  validateTransitions(status, before, old.spec ?? noSpec, at)
  validateClaims(status, pod.spec ?? noSpec, at.child('resourceClaimStatuses'))
  validateAddresses(status.podIPs, { old: before.podIPs, at: at.child('podIPs'), type: 'core.PodIP' })
  const first = status.hostIPs?.[0]?.ip ?? ''
  if (!isEmpty(status.hostIPs) && (status.hostIP ?? '') !== first)
    at.child('hostIPs').index(0).child('ip').invalid(first, 'must be equal to `hostIP`')
  validateAddresses(status.hostIPs, { old: before.hostIPs, at: at.child('hostIPs'), type: 'core.HostIP' })
  validateContainerStatuses(status, pod.spec ?? noSpec, at)
}

const noSpec: R<PodSpec> = { containers: [] }

function validateGeneration(generation: number | undefined, at: FieldPath): void {
  if ((generation ?? 0) < 0) at.child('observedGeneration').invalid(generation, 'must be a non-negative integer')
}

function validateClaims({ resourceClaimStatuses }: R<PodStatus>, spec: R<PodSpec>, at: FieldPath): void {
  const names = new Set<string>()
  const known = new Set((spec.resourceClaims ?? []).map(({ name }) => name))
  for (const [i, { name, resourceClaimName }] of (resourceClaimStatuses ?? []).entries()) {
    const here = at.index(i).child('name')
    if (!known.has(name)) here.invalid(name, 'must match the name of an entry in `spec.resourceClaims`')
    if (names.has(name)) here.duplicate(name)
    names.add(name)
    if (isSet(resourceClaimName)) validateDnsSubdomain(resourceClaimName, here)
  }
}

interface Addresses {
  /** Those of the stored pod, which may be wrong. */
  readonly old: readonly R<PodIP>[] | undefined
  readonly at: FieldPath
  /** The type of an address in the source of kube-apiserver. */
  readonly type: string
}

/** At most one address per family. */
function validateAddresses(list: readonly R<PodIP>[] | undefined, { old, at, type }: Addresses): void {
  const addresses = (list ?? []).map(({ ip = '' }) => ip)
  const kept = keptTexts(old?.map(({ ip = '' }) => ip))
  for (const [i, address] of addresses.entries()) validateIpAddress(address, at.index(i), kept)
  if (addresses.length < 2) return
  const wrong = addresses.findIndex((address) => parseIP(address) === undefined)
  if (wrong >= 0) at.internal(`failed to check for dual stack with error:invalid IP[${wrong}]: ${addresses[wrong]}`)
  const families = new Set(addresses.map((address) => parseIP(address)?.family))
  if (wrong >= 0 || families.size !== 2 || addresses.length > 2) {
    const printed = joinFormatted(addresses, (address) => goStruct(type, { IP: goQuote(address) }))
    at.invalidText(`[]${type}{${printed}}`, 'may specify no more than one IP for each IP family')
  }
}
