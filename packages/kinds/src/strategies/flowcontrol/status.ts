/** Status of FlowSchema and PriorityLevelConfiguration. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { FieldPath } from '../shared/field-path.ts'
import { copy, isEmpty } from '../shared/values.ts'

/** Condition types are required and unique. */
export function validateFlowConditions(conditions: readonly { readonly type?: string }[] | undefined, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, { type }] of (conditions ?? []).entries()) {
    const here = at.index(i).child('type')
    if (seen.has(type ?? '')) here.duplicate(type ?? '')
    seen.add(type ?? '')
    if (isEmpty(type)) here.required('must not be empty')
  }
}

/** A write of the status changes no metadata except managedFields and the resourceVersion that it was based on. */
export function keepFlowMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): void {
  const { managedFields, resourceVersion } = object.metadata
  object.metadata = copy(old.metadata)
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}
