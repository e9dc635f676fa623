/** Status of flow schemas and priority levels. */
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { FieldPath } from '../shared/field-path.ts'
import { copy, isEmpty } from '../shared/values.ts'

/** Each condition has a type, and no two have the same. */
export function validateFlowConditions(conditions: readonly { readonly type?: string }[] | undefined, at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, { type }] of (conditions ?? []).entries()) {
    const here = at.index(i).child('type')
    if (seen.has(type ?? '')) here.duplicate(type ?? '')
    seen.add(type ?? '')
    if (isEmpty(type)) here.required('must not be empty')
  }
}

/** A write of the status changes no metadata; who wrote it is kept, and the version that the writer saw. */
export function keepFlowMetadata(object: ApiObject, old: DeepReadonly<ApiObject>): void {
  const { managedFields, resourceVersion } = object.metadata
  object.metadata = copy(old.metadata)
  if (managedFields === undefined) delete object.metadata.managedFields
  else object.metadata.managedFields = managedFields
  if (resourceVersion !== undefined) object.metadata.resourceVersion = resourceVersion
}
