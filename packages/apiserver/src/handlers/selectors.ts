import { ApiError, type Features, MetaError } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { truncateSelector } from '@krmkit/meta/selectors'
import { errorsAt, formatFieldErrors } from '@krmkit/meta/validation'
import type { ListRequest } from '@krmkit/registry'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'
import { requestSelectors } from '../request/selectors.ts'

/** The selectors of a list, watch or deletecollection. */
export type Selectors = Pick<ListRequest, 'labelSelector' | 'fieldSelector'>

/** The selectors of the query. @throws ApiError 400 for malformed selectors. */
export function wellFormedSelectors(context: RequestContext, features: Pick<Features, 'release'>): Selectors {
  const { labels, fields } = requestSelectors(context)
  return { labelSelector: wellFormed(labels, features), fieldSelector: wellFormed(fields, features) }
}

/** Drops selectors that select everything. @throws ApiError 400 for fields that the kind cannot select by. */
export function usableSelectors({ definition }: RequestScope, { labelSelector, fieldSelector }: Selectors): Selectors {
  for (const { field, value } of fieldSelector?.requirements ?? []) {
    if (field === '' && value === '') continue
    if (!isSelectable(field, definition)) throw ApiError.badRequest(unsupportedField(definition, truncateSelector(field)))
  }
  return {
    labelSelector: labelSelector?.empty === true ? undefined : labelSelector,
    fieldSelector: fieldSelector?.empty === true ? undefined : fieldSelector,
  }
}

/**
 * Whether a field selector may use a field. Cluster-scoped built-in kinds without selectable fields accept `metadata.namespace`, whose
 * value is empty.
 */
function isSelectable(field: string, { kind, custom, strategy: { selectableFields } }: RequestScope['definition']): boolean {
  if (field === 'metadata.name') return true
  if (field !== 'metadata.namespace') return Object.hasOwn(selectableFields ?? {}, field)
  return kind.namespaced || (custom === undefined && selectableFields === undefined)
}

/**
 * The error for a field that cannot be selected by. As on kube-apiserver, the message depends on the kind: one for jobs, one for resource
 * slices, one for other kinds with selectable fields, and one for all others.
 */
function unsupportedField({ kind, custom, strategy }: RequestScope['definition'], name: string): string {
  if (kind.group === 'batch' && kind.kind === 'Job') return `field label ${goQuote(name)} not supported for Job`
  if (kind.kind === 'ResourceSlice' && custom === undefined) {
    return `field label not supported for ${kind.group}/${kind.version}, Kind=ResourceSlice: ${name}`
  }
  if (custom !== undefined || strategy.selectableFields !== undefined) return `field label not supported: ${name}`
  return `${goQuote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"`
}

function wellFormed<S>(selector: S | MetaError | undefined, { release }: Pick<Features, 'release'>): S | undefined {
  if (selector instanceof MetaError) {
    const { errors, message } = selector
    const stated = errors === undefined ? message : `${errors.prefix}${formatFieldErrors(errorsAt(errors.list, release))}`
    throw ApiError.badRequest(stated)
  }
  return selector
}
