import { ApiError, type GroupResource } from '@krmkit/meta'
import type { ResourceHandler } from '../request-scope.ts'
import { componentStatuses } from './component-status.ts'
import { finalizeNamespace } from './namespace-finalize.ts'
import { bindPod } from './pod-binding.ts'
import { evictPod } from './pod-eviction.ts'
import { createReview, reviewAnswers } from './reviews.ts'
import { scaleResource } from './scale.ts'
import { createToken } from './service-account-token.ts'

/** Subresources that have a handler of their own, by `group/resource/subresource`. */
const subresourceHandlers: ReadonlyMap<string, ResourceHandler> = new Map([
  ['/pods/binding', bindPod],
  ['/pods/eviction', evictPod],
  ['/namespaces/finalize', finalizeNamespace],
  ['/serviceaccounts/token', createToken],
])

/** The handler of a subresource; `undefined` for subresources of the same kind, which the verbs of the resource serve. */
export function subresourceHandler({ group, resource }: GroupResource, subresource: string): ResourceHandler | undefined {
  return subresource === 'scale' ? scaleResource : subresourceHandlers.get(`${group}/${resource}/${subresource}`)
}

/** Handlers of resources whose objects are not stored, by kind. */
const virtualHandlers: ReadonlyMap<string, ResourceHandler> = new Map<string, ResourceHandler>([
  ['Binding', bindPod],
  ['ComponentStatus', componentStatuses],
  ...Object.entries(reviewAnswers).map(([kind, answer]): [string, ResourceHandler] => [
    kind,
    (scope, context) => createReview(scope, context, answer),
  ]),
])

/** @throws ApiError 405 for kinds without a handler. */
export function virtualHandler(kind: string): ResourceHandler {
  const handler = virtualHandlers.get(kind)
  if (handler === undefined) throw ApiError.generic(405)
  return handler
}
