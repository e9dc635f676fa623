import type { ApiObject } from '@krmkit/meta'
import { takeNamespace, trackOwnership } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject, withDefaults } from '../request-body.ts'
import { header } from '../request-context.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { presentObject } from '../verbs/read.ts'
import {
  localSubjectAccessReview,
  selfSubjectAccessReview,
  selfSubjectRulesReview,
  subjectAccessReview,
} from './access-reviews.ts'
import { operationAdmission } from './operation.ts'
import { selfSubjectReview } from './self-subject-review.ts'
import { tokenReview } from './token-review.ts'

/**
 * Reviews: questions about callers and rights, asked by POST and answered in `status`; nothing is stored.
 *
 * @see API protocol specification, 2.1 and 2.7
 */

export type ReviewAnswer = (request: ResourceRequest, review: ApiObject) => Promise<void>

/** Reviews that this server can answer, by kind. */
export const reviewAnswers: Readonly<Record<string, ReviewAnswer>> = {
  SubjectAccessReview: subjectAccessReview,
  SelfSubjectAccessReview: selfSubjectAccessReview,
  LocalSubjectAccessReview: localSubjectAccessReview,
  SelfSubjectRulesReview: selfSubjectRulesReview,
  SelfSubjectReview: selfSubjectReview,
  TokenReview: tokenReview,
}

export async function answerReview(request: ResourceRequest, answer: ReviewAnswer): Promise<ApiResponse> {
  const { machinery, state, definition } = request
  const representation = machinery.responder.negotiator.negotiate(header(state.request, 'accept'))
  const options = requestedOptions(request, 'CreateOptions')
  const body = await readObject(machinery, state, {
    gvk: definition.kind,
    type: definition.kind.type,
    fieldValidation: options.fieldValidation,
    unstored: true,
  })
  const review = withDefaults(body, definition, machinery.writer.environment.profile)
  takeNamespace(review, state.info.namespace, definition)
  const context = writeContext(request, options)
  const tracking = trackOwnership(machinery.writer, definition, context, { live: undefined, next: review, subresource: '' })
  if (tracking !== undefined) await tracking
  const about = { name: review.metadata.name ?? '', kind: definition.kind }
  const admission = operationAdmission(request, definition, context, about)
  const admitted = await admission.admit(review)
  await admission.judge(admitted)
  await answer(request, admitted)
  return presentObject(request, 201, admitted, representation)
}
