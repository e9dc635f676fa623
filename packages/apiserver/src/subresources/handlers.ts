import { ApiError } from '@krmkit/meta'
import type { ResourceHandler } from '../request/scope.ts'
import { componentStatuses } from './component-status.ts'
import { createBinding } from './pod-binding.ts'
import { createEviction } from './pod-eviction.ts'
import { createReview, reviewAnswers } from './reviews.ts'
import { scaleResource } from './scale.ts'
import { createToken } from './service-account-token.ts'

/** Handlers of virtual resources and subresources, by the kind of their bodies. */
const virtualHandlers: ReadonlyMap<string, ResourceHandler> = new Map<string, ResourceHandler>([
  ['Binding', createBinding],
  ['ComponentStatus', componentStatuses],
  ['Eviction', createEviction],
  ['Scale', scaleResource],
  ['TokenRequest', createToken],
  ...Object.entries(reviewAnswers).map(([kind, answer]): [string, ResourceHandler] => [
    kind,
    (scope, context) => createReview(scope, context, answer),
  ]),
])

/**
 * The handler of a virtual resource or subresource.
 *
 * @throws ApiError 405 for kinds without a handler.
 * @see ResourceInfo.virtual
 */
export function virtualHandler(kind: string): ResourceHandler {
  const handler = virtualHandlers.get(kind)
  if (handler === undefined) throw ApiError.generic(405)
  return handler
}
