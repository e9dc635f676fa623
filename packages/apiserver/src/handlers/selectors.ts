import { ApiError, MetaError } from '@krmkit/meta'
import { truncateSelector } from '@krmkit/meta/selectors'
import type { ListRequest } from '@krmkit/registry'
import type { RequestContext } from '../request-context.ts'
import type { RequestScope } from '../request-scope.ts'
import { requestSelectors } from '../request-selectors.ts'

/** Selectors of a list, watch or deletecollection. @throws ApiError 400 for malformed selectors and for fields without an index. */
export function selectors(
  { definition }: RequestScope,
  context: RequestContext,
): Pick<ListRequest, 'labelSelector' | 'fieldSelector'> {
  const { labels, fields } = requestSelectors(context)
  const labelSelector = wellFormed(labels)
  const fieldSelector = wellFormed(fields)
  for (const { field } of fieldSelector?.requirements ?? []) {
    const isSelectable =
      field === 'metadata.name' ||
      (field === 'metadata.namespace' && definition.kind.namespaced) ||
      Object.hasOwn(definition.strategy.selectableFields ?? {}, field)
    if (!isSelectable) throw ApiError.badRequest(`field label not supported: ${truncateSelector(field)}`)
  }
  return {
    labelSelector: labelSelector?.empty === true ? undefined : labelSelector,
    fieldSelector: fieldSelector?.empty === true ? undefined : fieldSelector,
  }
}

function wellFormed<S>(selector: S | MetaError | undefined): S | undefined {
  if (selector instanceof MetaError) throw ApiError.badRequest(selector.message)
  return selector
}
