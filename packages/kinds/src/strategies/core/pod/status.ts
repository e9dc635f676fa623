/** The status sub-resource of pods. */

import type { DeepReadonly, OwnerReference } from '@krmkit/meta'
import { goQuote, joinFormatted } from '@krmkit/meta/go-text'
import { parseIP } from '@krmkit/meta/ip'
import type { SubresourceStrategy } from '../../../interfaces.ts'
import type { ContainerStatus, Pod, PodStatus } from '../../../types/core-v1.generated.ts'
import { addressWarnings } from '../../shared/address-warnings.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { dropGatedFields } from '../../shared/gated-fields.ts'
import { goStruct } from '../../shared/go-form.ts'
import { keepMembers, validateMetadataUpdate } from '../../shared/metadata.ts'
import { validateDnsSubdomain, validateQualifiedName } from '../../shared/names.ts'
import { validateIpAddress } from '../../shared/older-addresses.ts'
import { podStatusGates } from '../../shared/pod-gates.ts'
import { validateStepsWith } from '../../shared/strategy.ts'
import { copy, firstByName, isEmpty, isSet, type R } from '../../shared/values.ts'
import { validateAnnotationUpdates } from './update-validation.ts'

/** `podIP` equals the first item of `podIPs`; `podIP` decides. The addresses of the host are not joined in this way. */
export function defaultPodStatus(pod: Pod): void {
  const { status } = pod
  if (!isSet(status)) return
  if (!isEmpty(status.podIP) && status.podIPs?.[0]?.ip !== status.podIP) status.podIPs = [{ ip: status.podIP }]
  else if (isEmpty(status.podIP) && !isEmpty(status.podIPs?.[0]?.ip)) status.podIP = status.podIPs?.[0]?.ip as string
}

export const podStatusStrategy: SubresourceStrategy<Pod> = {
  prepareForUpdate(pod, old, { features }) {
    keepMembers(pod, old, 'spec')
    delete pod.metadata.deletionTimestamp
    if (isSet(old.metadata.deletionTimestamp)) pod.metadata.deletionTimestamp = old.metadata.deletionTimestamp
    delete pod.metadata.ownerReferences
    if (isSet(old.metadata.ownerReferences)) pod.metadata.ownerReferences = copy<OwnerReference[]>(old.metadata.ownerReferences)
    if (old.metadata.generation === undefined) delete pod.metadata.generation
    else pod.metadata.generation = old.metadata.generation
    pod.status ??= {}
    if (isEmpty(pod.status.qosClass) && isSet(old.status?.qosClass)) pod.status.qosClass = old.status.qosClass
    keepObservedGenerations(pod.status, old.status ?? {})
    dropGatedFields(pod, old, { table: podStatusGates, features })
  },
  validateUpdate(pod, old, context) {
    return validateStepsWith(context, function* (errors) {
      yield* validateMetadataUpdate(pod, old, errors)
      yield* validateAnnotationUpdates(pod, old, errors.child('metadata').child('annotations'))
      validateStatus(pod, old, errors.child('status'))
    })
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

/** Warnings about addresses in odd notations. */
export function statusWarnings({ podIPs = [], hostIPs = [] }: R<PodStatus>): string[] {
  return [
    ...podIPs.flatMap(({ ip = '' }, i) => addressWarnings(`status.podIPs[${i}].ip`, ip)),
    ...hostIPs.flatMap(({ ip = '' }, i) => addressWarnings(`status.hostIPs[${i}].ip`, ip)),
  ]
}

const ownConditions = new Set(['PodScheduled', 'Ready', 'Initialized'])

function validateStatus(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>, at: FieldPath): void {
  const status = pod.status ?? {}
  const before = old.status ?? {}
  for (const [i, condition] of (status.conditions ?? []).entries()) {
    if (!ownConditions.has(condition.type)) validateQualifiedName(condition.type, at.child('conditions').index(i).child('Type'))
  }
  const nominated = status.nominatedNodeName
  if (!isEmpty(nominated) && nominated !== before.nominatedNodeName)
    validateDnsSubdomain(nominated, at.child('nominatedNodeName'))
  if (!isEmpty(before.qosClass) && status.qosClass !== before.qosClass) {
    at.child('qosClass').invalid(status.qosClass ?? '', 'field is immutable')
  }
  const restartPolicy = old.spec?.restartPolicy
  for (const name of ['containerStatuses', 'initContainerStatuses'] as const) {
    validateTransitions(status[name] ?? [], before[name] ?? [], at.child(name), restartPolicy)
  }
  const texts = (entries: readonly { readonly ip?: string }[] | null | undefined) => (entries ?? []).map(({ ip = '' }) => ip)
  validateAddresses({ now: texts(status.podIPs), kept: texts(before.podIPs) }, at.child('podIPs'), 'core.PodIP')
  const first = status.hostIPs?.[0]?.ip ?? ''
  if (!isEmpty(status.hostIPs) && (status.hostIP ?? '') !== first)
    at.child('hostIPs').index(0).child('ip').invalid(first, 'must be equal to `hostIP`')
  if (!isEmpty(status.hostIPs))
    validateAddresses({ now: texts(status.hostIPs), kept: texts(before.hostIPs) }, at.child('hostIPs'), 'core.HostIP')
}

/** A finally terminated container must not run again. */
function validateTransitions(
  now: readonly R<ContainerStatus>[],
  before: readonly R<ContainerStatus>[],
  at: FieldPath,
  restartPolicy: string | undefined,
): void {
  if (restartPolicy === 'Always') return
  const byName = firstByName(now)
  for (const [i, old] of before.entries()) {
    const ended = old.state?.terminated
    if (!isSet(ended) || (ended.exitCode !== 0 && restartPolicy === 'OnFailure')) continue
    const current = byName.get(old.name)
    if (current !== undefined && !isSet(current.state?.terminated)) {
      at.index(i).child('state').forbidden('may not be transitioned to non-terminated state')
    }
  }
}

/** At most one address per family. */
function validateAddresses(
  { now, kept }: { readonly now: readonly string[]; readonly kept: readonly string[] },
  at: FieldPath,
  type: string,
): void {
  const addresses = now
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
