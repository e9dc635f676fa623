/** Names of resources, and where each may be used. */
import { goText } from '@krmkit/meta/go-text'
import { validateQualifiedNameFormat } from '@krmkit/meta/names'
import type { FieldPath } from './field-path.ts'
import { amount, isWhole, printAmount, validateAmountNotNegative } from './quantities.ts'

const containerResources = new Set(['cpu', 'memory', 'ephemeral-storage'])
const countedResources = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'configmaps',
  'persistentvolumeclaims',
  'services.nodeports',
  'services.loadbalancers',
]
const quotaResources = new Set([
  ...containerResources,
  ...[...containerResources].flatMap((name) => [`requests.${name}`, `limits.${name}`]),
  ...countedResources,
  'requests.storage',
])
const standardResources = new Set([...quotaResources, 'storage'])
const integerResources = new Set(countedResources)

/** Whether the name is `hugepages-<size>`. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

/** Whether a quota limits huge pages by this name. */
export function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** Whether the name has no domain, or one within `domain`. */
export function isNativeResource(name: string, domain: string): boolean {
  return !name.includes('/') || name.includes(`${domain}/`)
}

/** Resources that nodes advertise under a foreign domain. */
function isExtendedResource(name: string, domain: string): boolean {
  if (isNativeResource(name, domain) || name.startsWith('requests.')) return false
  return validateQualifiedNameFormat(`requests.${name}`).length === 0
}

/** Whether `name` is a known name without a domain. */
function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isQuotaHugePages(name)
}

function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name)
}

/** Whether nodes may overcommit the resource, so that request and limit may differ. */
export function mayOvercommit(name: string, domain: string): boolean {
  return isNativeResource(name, domain) && !isHugePages(name)
}

interface NameOptions {
  /** Prints malformed names as strings; most validators of kube-apiserver print them without quotes. */
  readonly quoted?: boolean
}

/** A qualified name that is known if it has no domain. Returns whether it is valid. */
export function validateResourceName(name: string, at: FieldPath, { quoted = false }: NameOptions = {}): boolean {
  const messages = validateQualifiedNameFormat(name)
  for (const message of messages) at.invalid(quoted ? name : goText(name), message)
  if (messages.length > 0) return false
  if (!name.includes('/') && !isStandardResource(name))
    at.invalidText(name, 'must be a standard resource type or fully qualified')
  return true
}

/** A resource that a container may request. */
export function validateContainerResourceName(name: string, at: FieldPath, options: NameOptions = {}): void {
  validateResourceName(name, at, options)
  const { domain } = at.profile
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) at.invalidText(name, 'must be a standard resource for containers')
  } else if (!isNativeResource(name, domain) && !isExtendedResource(name, domain)) {
    at.invalidText(name, "doesn't follow extended resource name standard")
  }
}

/** A resource that a quota may limit. */
export function validateQuotaResourceName(name: string, at: FieldPath): void {
  validateResourceName(name, at)
  if (!name.includes('/') && !quotaResources.has(name) && !isQuotaHugePages(name)) {
    at.invalidText(name, 'must be a standard resource for quota')
  }
}

/** A quantity of `name`: not negative, and an integer for resources counted in units. */
export function validateResourceAmount(name: string, value: string, at: FieldPath): void {
  validateAmountNotNegative(value, at)
  const counted = integerResources.has(name) || isExtendedResource(name, at.profile.domain)
  if (counted && !isWhole(amount(value))) at.invalidText(printAmount(value), 'must be an integer')
}
