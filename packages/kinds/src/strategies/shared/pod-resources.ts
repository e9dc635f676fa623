/** Resources of a pod as a whole, and the claims that its containers share. */
import { type Features, nameRules, type Quantity } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { goQuote, goText } from '@krmkit/meta/go-text'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { Container, PodResourceClaim, PodSpec } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { goPointer, goStruct } from './go-form.ts'
import { amount } from './quantities.ts'
import { isHugePages, validateResourceName } from './resource-names.ts'
import { validateResources } from './resources.ts'
import { sortedKeys } from './sorted-keys.direct.ts'
import { inOrder, isEmpty, isEmptyMap, isSet, own, type R } from './values.ts'

type Amounts = Record<string, Quantity>

const hugePages = 'hugepages-'
const names = ['cpu', hugePages, 'memory']

function isPodResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}

/** Whether the pod itself, beside its containers, has requests or limits. */
export function hasPodResources(spec: R<PodSpec>): boolean {
  return !isEmptyMap(spec.resources?.requests) || !isEmptyMap(spec.resources?.limits)
}

function addAll(to: Amounts, from: Readonly<Amounts>): void {
  for (const [name, value] of Object.entries(from)) to[name] = own(to, name)?.add(value) ?? value
}

function raiseAll(to: Amounts, from: Readonly<Amounts>): void {
  for (const [name, value] of Object.entries(from)) {
    const before = own(to, name)
    if (before === undefined || value.compare(before) > 0) to[name] = value
  }
}

/** What the containers need at once: all regular ones, or an init container beside the sidecars that started before it. */
function aggregate(spec: R<PodSpec>, kind: 'requests' | 'limits'): Amounts {
  const amounts = ({ resources }: R<Container>): Amounts =>
    Object.fromEntries(Object.entries(resources?.[kind] ?? {}).map(([name, text]) => [name, amount(text)]))
  const total: Amounts = {}
  for (const container of spec.containers ?? []) addAll(total, amounts(container))
  const [sidecars, start]: [Amounts, Amounts] = [{}, {}]
  for (const container of spec.initContainers ?? []) {
    const own = amounts(container)
    if (container.restartPolicy === 'Always') {
      addAll(total, own)
      addAll(sidecars, own)
      raiseAll(start, sidecars)
    } else {
      addAll(own, sidecars)
      raiseAll(start, own)
    }
  }
  raiseAll(total, start)
  return total
}

/**
 * Limits of huge pages default to those of the containers, requests to those of the containers or to the limits. Since 1.34 a limit whose
 * request is given has no default.
 */
export function defaultPodResources(spec: PodSpec, { release }: Features): void {
  const { resources } = spec
  if (!isSet(resources) || !hasPodResources(spec)) return
  const limits = { ...resources.limits }
  for (const [name, value] of Object.entries(aggregate(spec, 'limits'))) {
    const isRequested = release.atLeast('1.34') && own(resources.requests, name) !== undefined
    if (isHugePages(name) && !isRequested) limits[name] ??= value.toString()
  }
  if (isEmptyMap(limits)) return
  resources.limits = limits
  const requests = { ...resources.requests }
  for (const [name, value] of Object.entries(aggregate(spec, 'requests')))
    if (isPodResource(name) && !isHugePages(name)) requests[name] ??= value.toString()
  for (const [name, value] of Object.entries(limits)) if (isPodResource(name)) requests[name] ??= value
  if (!isEmptyMap(requests)) resources.requests = requests
}

/** Whether the resources of pods get their defaults after admission, which may add containers. */
export function completesLater(features: Features): boolean {
  return gateEnabled('PodLevelResources', features) && gateEnabled('PodLevelResourcesFixDefaulting', features)
}

/** Completes the resources of a new pod: as {@link defaultPodResources}, and limits where all containers have some. */
export function completePodResources(spec: PodSpec, features: Features): void {
  const { resources } = spec
  if (!isSet(resources) || !completesLater(features) || !hasPodResources(spec)) return
  const [limits, requests] = [{ ...resources.limits }, { ...resources.requests }]
  const total = aggregate(spec, 'limits')
  for (const [name, value] of Object.entries(total))
    if (isHugePages(name) && own(requests, name) === undefined) limits[name] ??= value.toString()
  for (const [name, value] of Object.entries(aggregate(spec, 'requests')))
    if (isPodResource(name) && !isHugePages(name)) requests[name] ??= value.toString()
  for (const [name, value] of Object.entries(limits)) if (isPodResource(name)) requests[name] ??= value
  for (const [name, request] of Object.entries(requests)) {
    const limit = own(total, name)
    if (!isPodResource(name) || own(limits, name) !== undefined || limit === undefined || !allLimit(spec, name)) continue
    limits[name] = amount(request).compare(limit) > 0 ? request : limit.toString()
  }
  if (!isEmptyMap(limits)) resources.limits = limits
  if (!isEmptyMap(requests)) resources.requests = requests
}

function allLimit(spec: R<PodSpec>, name: string): boolean {
  const containers = [...(spec.initContainers ?? []), ...(spec.containers ?? [])]
  return containers.every(({ resources }) => own(resources?.limits, name) !== undefined)
}

export function validatePodResources(spec: R<PodSpec>, at: FieldPath, claims: ReadonlySet<string>): void {
  const { resources } = spec
  if (!isSet(resources)) return
  const isLater = at.errors.context.features.release.atLeast('1.34')
  if (isLater && spec.os?.name === 'windows') {
    at.forbidden('may not be set for a windows pod')
    return
  }
  const verb = isLater ? 'may not' : 'cannot'
  if (isSet(resources.claims)) at.child('claims').forbidden(`claims ${verb} be set for Resources at pod-level`)
  validateResources(resources, at, { claims, validateName })
  const total = aggregate(spec, 'requests')
  for (const name of inOrder(Object.keys(total))) {
    // Since 1.34 an absent request is not compared.
    if (isLater && own(resources.requests, name) === undefined) continue
    const [needed, given] = [total[name] as Quantity, amount(own(resources.requests, name))]
    if (needed.compare(given) <= 0) continue
    const detail = `must be greater than or equal to aggregate container requests of ${needed}`
    at.child('requests').key(name).invalid(given.toString(), detail)
  }
  if (isLater) validateHugePages(spec, at)
  for (const [i, container] of (spec.containers ?? []).entries()) {
    for (const name of sortedKeys(container.resources?.limits)) {
      const [limit, most] = [amount(own(container.resources?.limits, name)), own(resources.limits, name)]
      if (most === undefined || limit.compare(amount(most)) <= 0) continue
      const here = at.child('containers').index(i).key(name).child('limits')
      here.invalid(limit.toString(), `must be less than or equal to pod limits of ${amount(most)}`)
    }
  }
}

/** Limits of huge pages, which cannot be overcommitted, cover those of the containers. */
function validateHugePages(spec: R<PodSpec>, at: FieldPath): void {
  const limits = aggregate(spec, 'limits')
  for (const name of inOrder(Object.keys(limits)).filter(isHugePages)) {
    const [needed, given] = [limits[name] as Quantity, own(spec.resources?.limits, name)]
    if (given === undefined || needed.compare(amount(given)) <= 0) continue
    const detail = `must be greater than or equal to aggregate container limits of ${needed}`
    at.child('limits').key(name).invalid(amount(given).toString(), detail)
  }
}

function validateName(name: string, at: FieldPath): void {
  const before = at.errors.length
  validateResourceName(name, at)
  if (at.errors.length === before && !isPodResource(name)) at.notSupported(goText(name), names)
}

/** `resourceClaims` of a pod. */
export function validatePodClaims(claims: readonly R<PodResourceClaim>[] | null | undefined, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, claim] of (claims ?? []).entries()) validatePodClaim(claim, at.index(i), seen)
}

function validatePodClaim(claim: R<PodResourceClaim>, at: FieldPath, seen: Set<string>): void {
  const { name, resourceClaimName, resourceClaimTemplateName } = claim
  const here = at.child('name')
  if (isEmpty(name)) here.required()
  else if (seen.has(name)) here.duplicate(name)
  else {
    here.invalidAll(name, validateDns1123Label(name))
    seen.add(name)
  }
  const refuse = (detail: string): void => at.invalidText(printClaim(claim), detail)
  if (isSet(resourceClaimName) && isSet(resourceClaimTemplateName))
    refuse('at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified')
  if (!isSet(resourceClaimName) && !isSet(resourceClaimTemplateName))
    refuse('must specify one of: `resourceClaimName`, `resourceClaimTemplateName`')
  for (const member of ['resourceClaimName', 'resourceClaimTemplateName'] as const) {
    const given = claim[member]
    if (isSet(given)) at.child(member).invalidAll(given, nameRules.dns1123Subdomain(given, false))
  }
}

function printClaim({ name, resourceClaimName, resourceClaimTemplateName }: R<PodResourceClaim>): string {
  return goStruct('core.PodResourceClaim', {
    Name: goQuote(name ?? ''),
    ResourceClaimName: goPointer(resourceClaimName, 'string'),
    ResourceClaimTemplateName: goPointer(resourceClaimTemplateName, 'string'),
  })
}
