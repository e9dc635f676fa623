import { type Features, formatApiVersion } from '@krmkit/meta'
import type { KindInfo } from '../interfaces.ts'

/**
 * Returns the text of the Warning header for requests to a deprecated kind, list requests included.
 *
 * @param features if given, a kind deprecated after its release gives no warning.
 * @returns undefined for a kind that is not deprecated.
 * @example
 * import { createCatalog, deprecationWarning } from '@krmkit/kinds'
 * const endpoints = createCatalog().kind({ group: '', version: 'v1', kind: 'Endpoints' })!
 * deprecationWarning(endpoints) // 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice'
 * @see API protocol specification, 6 and 9.3 (rule 6)
 */
export function deprecationWarning(kind: KindInfo, features?: Features): string | undefined {
  if (kind.deprecated === undefined) return undefined
  if (features !== undefined && !features.release.atLeast(kind.deprecated)) return undefined
  const removed = kind.removed === undefined ? '' : `, unavailable in v${kind.removed}+`
  const instead = kind.replacement === undefined ? '' : `; use ${formatApiVersion(kind.replacement)} ${kind.replacement.kind}`
  return `${formatApiVersion(kind)} ${kind.kind} is deprecated in v${kind.deprecated}+${removed}${instead}`
}
