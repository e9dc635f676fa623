import type { ApiResponse } from '@krmkit/protocol'
import { normalize } from '@krmkit/schema'
import { readCreation } from '../encoding/creation.ts'
import { objectResponse } from '../encoding/object-response.ts'
import { writeContext } from '../handlers/write-context.ts'
import type { RequestContext } from '../request/context.ts'
import { negotiated, type RequestScope } from '../request/scope.ts'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts'
import type { ReviewAnswer } from './review-answer.ts'
import { selfSubjectReview } from './self-subject-review.ts'
import { tokenReview } from './token-review.ts'

/**
 * Reviews of users and access: a POST returns the result in `status`, and stores nothing.
 *
 * @see API protocol specification, 2.1 and 2.7
 */

/** Functions that fill in the status of reviews, by kind. */
export const reviewAnswers: Readonly<Record<string, ReviewAnswer>> = {
  SubjectAccessReview: subjectAccessReview,
  SelfSubjectAccessReview: selfSubjectAccessReview,
  LocalSubjectAccessReview: localSubjectAccessReview,
  SelfSubjectRulesReview: selfSubjectRulesReview,
  SelfSubjectReview: selfSubjectReview,
  TokenReview: tokenReview,
}

/** POST of a review: runs admission, fills in `status`, and stores nothing. */
export async function createReview(scope: RequestScope, context: RequestContext, answer: ReviewAnswer): Promise<ApiResponse> {
  const { definition, store } = scope
  const representation = negotiated(scope, context, { transforms: ['PartialObjectMetadata'] })
  const { kind: gvk } = definition
  const { options, decoded } = await readCreation(scope, context, { gvk, type: gvk.type, unstored: true })
  const { object } = decoded
  const review = await store.createVirtual(writeContext(context, options), { namespace: context.info.namespace, object })
  const asked = definition.toStorage?.(review) ?? review
  await answer(scope, context, asked)
  const answered = definition.fromStorage?.(asked) ?? asked
  return objectResponse(scope, context, normalize(definition.kind.type(), answered), { representation, status: 201 })
}
