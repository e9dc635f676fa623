import { type FieldSelector, type LabelSelector, MetaError, parseFieldSelector, parseLabelSelector } from '@krmkit/meta'
import { type Query, text } from './query.ts'
import type { RequestContext } from './request-context.ts'

/** The selectors of a request. Absent ones are undefined, what does not parse is its fault. */
export interface RequestSelectors {
  readonly labels: LabelSelector | MetaError | undefined
  readonly fields: FieldSelector | MetaError | undefined
}

/** Reads the selectors of a request, once for all stages that look at them. */
export function requestSelectors(context: RequestContext): RequestSelectors {
  context.selectors ??= readSelectors(context.query)
  return context.selectors
}

function readSelectors(query: Query): RequestSelectors {
  return {
    labels: read(text(query, 'labelSelector'), parseLabelSelector),
    fields: read(text(query, 'fieldSelector'), parseFieldSelector),
  }
}

function read<S>(selector: string | undefined, parse: (selector: string) => S): S | MetaError | undefined {
  if (selector === undefined || selector === '') return undefined
  try {
    return parse(selector)
  } catch (error) {
    if (error instanceof MetaError) return error
    throw error
  }
}
