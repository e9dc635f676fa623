/** Which resources exist, and where each may be named. */
import { validateQualifiedNameFormat } from '@krmkit/meta'
import type { FieldPath } from './field-path.ts'
import { amount, checkAmountNotNegative, isWhole, printAmount } from './quantities.ts'

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

/** `hugepages-2Mi` and its siblings. */
export function isHugePages(name: string): boolean {
  return name.startsWith('hugepages-')
}

function isQuotaHugePages(name: string): boolean {
  return isHugePages(name) || name.startsWith('requests.hugepages-')
}

/** Resources whose name the project itself defines: without a domain, or below its own `domain`. */
export function isNativeResource(name: string, domain: string): boolean {
  return !name.includes('/') || name.includes(`${domain}/`)
}

/** Resources that nodes may advertise under a foreign domain. */
export function isExtendedResource(name: string, domain: string): boolean {
  if (isNativeResource(name, domain) || name.startsWith('requests.')) return false
  return validateQualifiedNameFormat(`requests.${name}`).length === 0
}

/** Whether `name` is of the names that need no domain. */
export function isStandardResource(name: string): boolean {
  return standardResources.has(name) || isQuotaHugePages(name)
}

export function isStandardContainerResource(name: string): boolean {
  return containerResources.has(name) || isHugePages(name)
}

/** Resources that a whole pod may ask for. */
export function isPodLevelResource(name: string): boolean {
  return name === 'cpu' || name === 'memory' || isHugePages(name)
}

/** Whether nodes may promise more of it than they have, so that request and limit may differ. */
export function mayOvercommit(name: string, domain: string): boolean {
  return isNativeResource(name, domain) && !isHugePages(name)
}

/** The form of a resource name: qualified, and known when it has no domain. True when the form is right. */
export function checkResourceName(name: string, at: FieldPath): boolean {
  const messages = validateQualifiedNameFormat(name)
  for (const message of messages) at.invalidText(name, message)
  if (messages.length > 0) return false
  if (!name.includes('/') && !isStandardResource(name))
    at.invalidText(name, 'must be a standard resource type or fully qualified')
  return true
}

/** A resource that a container may ask for. */
export function checkContainerResourceName(name: string, at: FieldPath): void {
  checkResourceName(name, at)
  const { domain } = at.profile
  if (!name.includes('/')) {
    if (!isStandardContainerResource(name)) at.invalidText(name, 'must be a standard resource for containers')
  } else if (!isNativeResource(name, domain) && !isExtendedResource(name, domain)) {
    at.invalidText(name, "doesn't follow extended resource name standard")
  }
}

/** A resource that a quota may count. */
export function checkQuotaResourceName(name: string, at: FieldPath): void {
  checkResourceName(name, at)
  if (!name.includes('/') && !quotaResources.has(name) && !isQuotaHugePages(name)) {
    at.invalidText(name, 'must be a standard resource for quota')
  }
}

/** An amount of `name`: not negative, and whole where the resource is counted in units. */
export function checkResourceAmount(name: string, value: string, at: FieldPath): void {
  checkAmountNotNegative(value, at)
  const counted = integerResources.has(name) || isExtendedResource(name, at.profile.domain)
  if (counted && !isWhole(amount(value))) at.invalidText(printAmount(value), 'must be an integer')
}
