import { MetaError, parseLabelSelector } from '@krmkit/meta'
import { type FieldSelector, type LabelSelector, parseFieldSelector } from '@krmkit/meta/selectors'
import { type Query, text } from './query.ts'

/** The selectors of a request: undefined when absent, the error when invalid. */
export interface RequestSelectors {
  readonly labels: LabelSelector | MetaError | undefined
  readonly fields: FieldSelector | MetaError | undefined
}

/** The selectors of a request, parsed on first use. */
export function requestSelectors(context: { readonly query: Query; selectors: RequestSelectors | undefined }): RequestSelectors {
  context.selectors ??= readSelectors(context.query)
  return context.selectors
}

function readSelectors(query: Query): RequestSelectors {
  return {
    labels: parseSelector(text(query, 'labelSelector'), parseLabelSelector),
    fields: parseSelector(text(query, 'fieldSelector'), parseFieldSelector),
  }
}

function parseSelector<S>(selector: string | undefined, parse: (selector: string) => S): S | MetaError | undefined {
  if (selector === undefined || selector === '') return undefined
  try {
    return parse(selector)
  } catch (error) {
    if (error instanceof MetaError) return error
    throw error
  }
}
