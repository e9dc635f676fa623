import type { ResourceDefinition } from '@krmkit/kinds'
import { type ApiObject, type JsonObject, stockProfile } from '@krmkit/meta'
import { applyDefaults } from '@krmkit/schema'

/** The object with everything filled in that a server fills in on reading it. What is given may come back changed. */
export function withDefaults({ kind, strategy: policy }: ResourceDefinition, object: JsonObject): ApiObject {
  const filled = applyDefaults(kind.type(), object) as unknown as ApiObject
  policy.defaults?.(filled, kind.version, stockProfile)
  return filled
}
