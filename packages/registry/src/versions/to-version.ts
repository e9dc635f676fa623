import type { Work } from '@krmkit/base/work'
import type { ResourceDefinition } from '@krmkit/kinds'
import { normalize } from '@krmkit/schema/paced'
import type { FrozenObject } from '../interfaces.ts'

/**
 * Converts a stored object to the version of a definition. Objects that a webhook converts are already in that version.
 *
 * @example
 * import { createCatalog } from '@krmkit/kinds'
 * import { toVersion } from '@krmkit/registry'
 * const hpa = { group: 'autoscaling', version: 'v1', resource: 'horizontalpodautoscalers' }
 * const stored = { apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } }
 * toVersion(stored, createCatalog().resource(hpa)!).apiVersion // 'autoscaling/v1'
 */
export function* toVersion(object: FrozenObject, definition: ResourceDefinition): Work<FrozenObject> {
  if (definition.fromStorage === undefined) return object
  // Custom objects are normalized when they are read.
  if (definition.paced !== undefined) return (yield* definition.paced.fromStorage(object)) as FrozenObject
  return (yield* normalize(definition.kind.type(), definition.fromStorage(object))) as FrozenObject
}
