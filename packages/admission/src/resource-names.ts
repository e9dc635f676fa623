import { validateQualifiedNameFormat } from '@krmkit/meta/names'

/** Whether a resource is an extended resource: advertised by nodes under a vendor's domain, and counted by request. */
export function isExtendedResource(name: string, domain: string): boolean {
  if (isNativeResource(name, domain) || name.startsWith('requests.')) return false
  return validateQualifiedNameFormat(`requests.${name}`).length === 0
}

function isNativeResource(name: string, domain: string): boolean {
  return !name.includes('/') || name.includes(`${domain}/`)
}
