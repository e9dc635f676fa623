/** Requests and limits of containers and pods. */
import { goText } from '@krmkit/meta/go-text'
import { validateDns1123Label } from '@krmkit/meta/names'
import type { ContainerResizePolicy, ResourceClaim, ResourceRequirements } from '../../types/core-v1.generated.ts'
import type { FieldPath } from './field-path.ts'
import { amount, compareAmounts } from './quantities.ts'
import { isHugePages, mayOvercommit, validateContainerResourceName, validateResourceAmount } from './resource-names.ts'
import { sortedKeys } from './sorted-keys.direct.ts'
import { inOrder, isEmpty, isSet, own, type R } from './values.ts'

export interface ResourceOptions {
  /** Names of `spec.resourceClaims`. */
  readonly claims: ReadonlySet<string>
  /** Validates names. Default: those of containers. */
  readonly validateName?: (name: string, at: FieldPath) => void
}

/** `resources` of a container. */
export function validateResources(
  resources: R<ResourceRequirements> | null | undefined,
  at: FieldPath,
  options: ResourceOptions,
): void {
  if (!isSet(resources)) return
  const { limits, requests } = resources
  const validateName = options.validateName ?? validateContainerResourceName
  let hugePages = false
  let compute = false
  const validateEntry = (name: string, value: string, here: FieldPath): void => {
    validateName(name, here)
    validateResourceAmount(name, value, here)
  }
  const validateSize = (name: string, value: string, here: FieldPath): void => {
    if (isHugePages(name)) {
      hugePages = true
      validateHugePages(name, value, here)
    }
    if (name === 'cpu' || name === 'memory') compute = true
  }
  for (const name of sortedKeys(limits)) {
    const limit = own(limits, name) ?? '0'
    const here = at.child('limits').key(name)
    validateEntry(name, limit, here)
    validateSize(name, limit, here)
  }
  for (const name of sortedKeys(requests)) {
    const request = own(requests, name) ?? '0'
    const here = at.child('requests').key(name)
    validateEntry(name, request, here)
    validateAgainstLimit(name, request, at, own(limits, name))
    validateSize(name, request, here)
  }
  if (hugePages && !compute) at.forbidden('HugePages require cpu or memory')
  validateClaims(resources.claims, at.child('claims'), options.claims)
}

function validateAgainstLimit(name: string, request: string, at: FieldPath, limit: string | undefined): void {
  const free = mayOvercommit(name, at.profile.domain)
  if (limit === undefined) {
    if (!free) at.child('limits').required('Limit must be set for non overcommitable resources')
    return
  }
  const order = compareAmounts(request, limit)
  const printed = amount(limit).toString()
  if (order !== 0 && !free)
    at.child('requests').invalid(amount(request).toString(), `must be equal to ${name} limit of ${printed}`)
  else if (order > 0) {
    at.child('requests').invalid(amount(request).toString(), `must be less than or equal to ${name} limit of ${printed}`)
  }
}

const bytesPattern = /^(\d+)(Ki|Mi|Gi|Ti|Pi|Ei|k|M|G|T|P|E)?$/
const byteFactors: Readonly<Record<string, bigint>> = {
  '': 1n,
  k: 10n ** 3n,
  M: 10n ** 6n,
  G: 10n ** 9n,
  T: 10n ** 12n,
  P: 10n ** 15n,
  E: 10n ** 18n,
  Ki: 1n << 10n,
  Mi: 1n << 20n,
  Gi: 1n << 30n,
  Ti: 1n << 40n,
  Pi: 1n << 50n,
  Ei: 1n << 60n,
}

function wholeBytes(text: string): bigint | undefined {
  const match = bytesPattern.exec(text)
  return match === null ? undefined : BigInt(match[1] ?? '0') * (byteFactors[match[2] ?? ''] ?? 1n)
}

/** Huge pages are requested in whole pages. */
function validateHugePages(name: string, value: string, at: FieldPath): void {
  const page = wholeBytes(name.slice('hugepages-'.length))
  const canonical = amount(value).toString()
  const bytes = wholeBytes(canonical)
  if (page !== undefined && page > 0n && bytes !== undefined && bytes % page === 0n) return
  at.invalid(canonical, `${canonical} is not positive integer multiple of ${name}`)
}

function validateClaims(claims: readonly R<ResourceClaim>[] | null | undefined, at: FieldPath, known: ReadonlySet<string>): void {
  if (!isSet(claims)) return
  const seen = new Set<string>()
  for (const [i, claim] of claims.entries()) {
    const here = at.index(i)
    const name = claim.name
    if (isEmpty(name)) {
      here.required()
      continue
    }
    validateClaimOnce(name, claim.request ?? '', here, seen)
    if (!known.has(name)) here.notFound(name, knownClaims(known))
  }
}

/** A claim is referred to as a whole, or by different requests. */
function validateClaimOnce(name: string, request: string, at: FieldPath, seen: Set<string>): void {
  if (seen.has(name)) {
    at.duplicate(name)
    return
  }
  if (request !== '') at.child('request').invalidAll(request, validateDns1123Label(request))
  const text = request === '' ? name : `${name}/${request}`
  if (seen.has(text)) at.duplicate(text)
  else if (request === '') for (const other of seen) if (other.startsWith(`${name}/`)) at.duplicate(name)
  seen.add(text)
}

function knownClaims(known: ReadonlySet<string>): string {
  const names = inOrder([...known])
  return `must be one of the names in pod.spec.resourceClaims${names.length === 0 ? ' which is empty' : `: ${names.join(', ')}`}`
}

const resizable = ['cpu', 'memory']
const resizeModes = ['NotRequired', 'RestartContainer']

/** `resizePolicy` of a container. */
export function validateResizePolicy(
  policies: readonly R<ContainerResizePolicy>[] | null | undefined,
  at: FieldPath,
  podRestartPolicy: string | undefined,
): void {
  if (!isSet(policies)) return
  const seen = new Set<string>()
  for (const [i, policy] of policies.entries()) {
    if (seen.has(policy.resourceName)) at.index(i).duplicate(goText(policy.resourceName))
    seen.add(policy.resourceName)
    if (isEmpty(policy.resourceName)) at.required()
    else if (!resizable.includes(policy.resourceName)) at.notSupported(goText(policy.resourceName), resizable)
    if (isEmpty(policy.restartPolicy)) at.required()
    else if (!resizeModes.includes(policy.restartPolicy)) at.notSupported(policy.restartPolicy, resizeModes)
    if (podRestartPolicy === 'Never' && policy.restartPolicy !== 'NotRequired') {
      at.invalid(policy.restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'")
    }
  }
}
