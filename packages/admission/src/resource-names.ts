import { validateQualifiedNameFormat } from '@krmkit/meta'

/** Names of what containers ask for. */

/** Whether a resource is one of a vendor's own, which nodes advertise and quotas count by request. */
export function isExtendedResource(name: string, domain: string): boolean {
  if (isNativeResource(name, domain) || name.startsWith('requests.')) return false
  return validateQualifiedNameFormat(`requests.${name}`).length === 0
}

function isNativeResource(name: string, domain: string): boolean {
  return !name.includes('/') || name.includes(`${domain}/`)
}
