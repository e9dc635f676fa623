/** Names of resources that pods request and devices provide. */
import { validateQualifiedNameFormat } from '@krmkit/meta/names'

/** Whether a resource is named by a domain other than that of Kubernetes, and can be the resource of a quota. */
export function isExtendedResourceName(name: string): boolean {
  if (!name.includes('/') || name.includes('kubernetes.io/') || name.startsWith('requests.')) return false
  return validateQualifiedNameFormat(`requests.${name}`).length === 0
}
