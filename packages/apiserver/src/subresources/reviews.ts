import type { Attributes } from '@krmkit/authorization'
import { ApiError, type ApiObject, type UserInfo } from '@krmkit/meta'
import { takeNamespace, trackOwnership } from '@krmkit/registry'
import type { ApiResponse } from '../interfaces.ts'
import { readObject, withDefaults } from '../request-body.ts'
import { header } from '../request-state.ts'
import { type ResourceRequest, requestedOptions, writeContext } from '../resource-handler.ts'
import { presentObject } from '../verbs/read.ts'
import { selfSubjectReview } from './self-subject-review.ts'
import { tokenReview } from './token-review.ts'

/**
 * Reviews: questions about callers and rights, asked by POST and answered in `status`; nothing is stored.
 *
 * @see API protocol specification, 2.1 and 2.7
 */

interface ResourceAttributes {
  namespace?: string
  verb?: string
  group?: string
  version?: string
  resource?: string
  subresource?: string
  name?: string
}

interface AccessReview extends ApiObject {
  spec: {
    resourceAttributes?: ResourceAttributes
    nonResourceAttributes?: { path?: string; verb?: string }
    user?: string
    groups?: string[]
    uid?: string
    extra?: Record<string, string[]>
  }
  status?: object
}

export type ReviewAnswer = (request: ResourceRequest, review: ApiObject) => Promise<void>

const accessReview: ReviewAnswer = async (request, object) => {
  const review = object as AccessReview
  const self = request.definition.kind.kind.startsWith('Self')
  const { spec } = review
  validateAccessReview(request, review, self)
  const user: UserInfo = self
    ? request.state.user
    : {
        username: spec.user ?? '',
        groups: spec.groups ?? [],
        ...(spec.uid === undefined ? {} : { uid: spec.uid }),
        ...(spec.extra === undefined ? {} : { extra: spec.extra }),
      }
  const { decision, reason } = await request.machinery.authorizer.authorize(attributesOf(user, spec))
  review.status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
  }
}

function attributesOf(user: UserInfo, spec: AccessReview['spec']): Attributes {
  const asked = spec.resourceAttributes
  if (asked !== undefined) {
    const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = asked
    return { user, isResource: true, verb, group, version, resource, subresource, namespace, name, path: '' }
  }
  const { path = '', verb = '' } = spec.nonResourceAttributes ?? {}
  return { user, isResource: false, verb, group: '', version: '', resource: '', subresource: '', namespace: '', name: '', path }
}

function validateAccessReview({ definition, state }: ResourceRequest, review: AccessReview, self: boolean): void {
  const { spec } = review
  const errors: { field: string; reason: 'FieldValueInvalid' | 'FieldValueRequired'; message: string }[] = []
  const both = spec.resourceAttributes !== undefined && spec.nonResourceAttributes !== undefined
  const neither = spec.resourceAttributes === undefined && spec.nonResourceAttributes === undefined
  if (both) {
    errors.push({
      field: 'spec.nonResourceAttributes',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "spec.nonResourceAttributes": cannot be specified in combination with resourceAttributes',
    })
  }
  if (neither) {
    errors.push({
      field: 'spec.resourceAttributes',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: null: exactly one of nonResourceAttributes or resourceAttributes must be specified',
    })
  }
  if (!self && (spec.user ?? '') === '' && (spec.groups ?? []).length === 0) {
    errors.push({
      field: 'spec.user',
      reason: 'FieldValueInvalid',
      message: 'Invalid value: "": at least one of user or group must be specified',
    })
  }
  if (errors.length > 0) throw ApiError.invalid({ group: definition.kind.group, kind: definition.kind.kind }, '', errors)
  if (definition.kind.kind === 'LocalSubjectAccessReview' && spec.resourceAttributes?.namespace !== state.info.namespace) {
    throw ApiError.badRequest(`spec.resourceAttributes.namespace must match namespace: ${state.info.namespace}`)
  }
}

/** Reviews that this server can answer, by kind. */
export const reviewAnswers: Readonly<Record<string, ReviewAnswer>> = {
  SubjectAccessReview: accessReview,
  SelfSubjectAccessReview: accessReview,
  LocalSubjectAccessReview: accessReview,
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
  })
  const review = withDefaults(body, definition, machinery.writer.environment.profile)
  takeNamespace(review, state.info.namespace, definition)
  trackOwnership(machinery.writer, definition, writeContext(request, options), { live: undefined, next: review, subresource: '' })
  await answer(request, review)
  return presentObject(request, 201, review, representation)
}
