import type { ApiObject } from '@krmkit/meta'
import type { RequestContext } from '../request/context.ts'
import type { RequestScope } from '../request/scope.ts'

/** Fills in the status of a review. @throws ApiError 400, 422 for a malformed review. */
export type ReviewAnswer = (scope: RequestScope, context: RequestContext, review: ApiObject) => Promise<void>
