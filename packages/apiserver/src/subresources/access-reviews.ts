import type { Attributes } from '@krmkit/authorization'
import type {
  LocalSubjectAccessReview,
  NonResourceAttributes,
  ResourceAttributes,
  SelfSubjectAccessReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
  SubjectAccessReviewSpec,
} from '@krmkit/kinds/authorization/v1'
import { ApiError, type ApiObject, type Features, type FieldError, field, Path, type UserInfo } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { aggregateMessages, goQuote, goText } from '@krmkit/meta/go-text'
import { validateLabelValue, validateQualifiedNameFormat } from '@krmkit/meta/names'
import { maxSelectorTerms } from '@krmkit/meta/selectors'
import { restatedError } from '@krmkit/meta/validation'
import type { RequestScope } from '../request/scope.ts'
import type { ReviewAnswer } from './review-answer.ts'
import { reviewSelectors } from './review-selectors.ts'

/**
 * Access reviews, answered by the authorizer of the server.
 *
 * @see API protocol specification, 2.1 and 9.4
 */

type AnyReview = SubjectAccessReview | LocalSubjectAccessReview | SelfSubjectAccessReview

/** Reviews a request of any user. */
export const subjectAccessReview: ReviewAnswer = async (scope, _context, object) => {
  const review = object as unknown as SubjectAccessReview
  dropSelectors(review, scope.features)
  const { spec = {} } = review
  refuseIfWrong(scope, [...wrongAttributes(spec), ...wrongSubject(spec), ...wrongMetadata(object, false)])
  await decide(scope, review, subjectOf(spec))
}

/** Reviews a request of any user in the namespace of the path. */
export const localSubjectAccessReview: ReviewAnswer = async (scope, _context, object) => {
  const review = object as unknown as LocalSubjectAccessReview
  dropSelectors(review, scope.features)
  const { spec = {} } = review
  const errors = [...wrongAttributes(spec), ...wrongSubject(spec), ...wrongMetadata(object, true)]
  const at = Path.of('spec')
  const { resourceAttributes, nonResourceAttributes } = spec
  const { namespace = '' } = resourceAttributes ?? {}
  if (resourceAttributes !== undefined && namespace !== (object.metadata.namespace ?? '')) {
    errors.push(field.invalid(at.child('resourceAttributes').child('namespace'), namespace, 'must match metadata.namespace'))
  }
  if (nonResourceAttributes !== undefined) {
    const place = at.child('nonResourceAttributes')
    errors.push(field.invalid(place, printed(nonResourceAttributes), 'disallowed on this kind of request'))
  }
  refuseIfWrong(scope, errors)
  await decide(scope, review, subjectOf(spec))
}

/** Reviews a request of the caller. */
export const selfSubjectAccessReview: ReviewAnswer = async (scope, context, object) => {
  const review = object as unknown as SelfSubjectAccessReview
  dropSelectors(review, scope.features)
  refuseIfWrong(scope, [...wrongAttributes(review.spec ?? {}), ...wrongMetadata(object, false)])
  await decide(scope, review, context.user)
}

/** Lists the rules of the caller in a namespace. */
export const selfSubjectRulesReview: ReviewAnswer = async ({ authorizer }, { user }, object) => {
  const review = object as unknown as SelfSubjectRulesReview
  const namespace = review.spec?.namespace ?? ''
  if (namespace === '') throw ApiError.badRequest('no namespace on request')
  const answer = await authorizer.rulesFor?.(user, namespace)
  const { resourceRules = [], nonResourceRules = [], incomplete = true, errors = [] } = answer ?? {}
  // The response contains only the status.
  review.metadata = {}
  review.spec = {}
  review.status = {
    resourceRules: resourceRules.map(({ verbs, apiGroups, resources, resourceNames }) => ({
      verbs: [...verbs],
      ...listed('apiGroups', apiGroups),
      ...listed('resources', resources),
      ...listed('resourceNames', resourceNames),
    })),
    nonResourceRules: nonResourceRules.map(({ verbs, nonResourceURLs }) => ({
      verbs: [...verbs],
      ...listed('nonResourceURLs', nonResourceURLs),
    })),
    incomplete,
    ...(errors.length === 0 ? {} : { evaluationError: aggregateMessages(errors) }),
  }
}

function listed<K extends string>(key: K, values: readonly string[] | undefined): Partial<Record<K, string[]>> {
  return values === undefined || values.length === 0 ? {} : ({ [key]: [...values] } as Partial<Record<K, string[]>>)
}

async function decide({ authorizer }: RequestScope, review: AnyReview, user: UserInfo): Promise<void> {
  const { attributes, problems } = attributesOf(user, review.spec ?? {})
  const { decision, reason, error } = await authorizer.authorize(attributes)
  const errors = error === undefined ? problems : [error, ...problems]
  review.status = {
    allowed: decision === 'allow',
    ...(decision === 'deny' ? { denied: true } : {}),
    ...(reason === '' ? {} : { reason }),
    ...(errors.length === 0 ? {} : { evaluationError: errors.join('; ') }),
  }
}

/** Without the gate, reviews have no selectors. */
function dropSelectors({ spec }: AnyReview, features: Features): void {
  if (spec?.resourceAttributes === undefined || gateEnabled('AuthorizeWithSelectors', features)) return
  const { fieldSelector: _fields, labelSelector: _labels, ...rest } = spec.resourceAttributes
  spec.resourceAttributes = rest
}

function subjectOf({ user = '', groups = [], uid, extra }: SubjectAccessReviewSpec): UserInfo {
  return { username: user, groups, ...(uid === undefined ? {} : { uid }), ...(extra === undefined ? {} : { extra }) }
}

type Asked = Pick<SubjectAccessReviewSpec, 'resourceAttributes' | 'nonResourceAttributes'>

/** A malformed selector selects everything, and is reported in `problems`. */
function attributesOf(user: UserInfo, spec: Asked): { readonly attributes: Attributes; readonly problems: readonly string[] } {
  const asked = spec.resourceAttributes
  if (asked === undefined) {
    const { path = '', verb = '' } = spec.nonResourceAttributes ?? {}
    const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' }
    return { attributes: { user, isResource: false, verb, path, ...none }, problems: [] }
  }
  const { namespace = '', verb = '', group = '', version = '', resource = '', subresource = '', name = '' } = asked
  const { problems, ...selectors } = reviewSelectors(asked)
  const plain = { user, isResource: true, verb, group, version, resource, subresource, namespace, name, path: '' }
  return { attributes: { ...plain, ...selectors }, problems }
}

const exactlyOne = 'exactly one of nonResourceAttributes or resourceAttributes must be specified'

function wrongAttributes({ resourceAttributes, nonResourceAttributes }: Asked): FieldError[] {
  const at = Path.of('spec')
  const errors: FieldError[] = []
  if (resourceAttributes !== undefined && nonResourceAttributes !== undefined) {
    const value = printed(nonResourceAttributes)
    const error = field.invalid(
      at.child('nonResourceAttributes'),
      value,
      'cannot be specified in combination with resourceAttributes',
    )
    errors.push(restatedError(error, { since: '1.37', errors: [field.invalid(at, value, exactlyOne)] }))
  }
  if (resourceAttributes === undefined && nonResourceAttributes === undefined) {
    const error = field.invalid(at.child('resourceAttributes'), null, exactlyOne)
    errors.push(restatedError(error, { since: '1.37', errors: [field.invalid(at, null, exactlyOne)] }))
  }
  if (resourceAttributes !== undefined) errors.push(...wrongSelectors(resourceAttributes, at.child('resourceAttributes')))
  return errors
}

function wrongSelectors(attributes: ResourceAttributes, at: Path): FieldError[] {
  const errors: FieldError[] = []
  for (const member of ['fieldSelector', 'labelSelector'] as const) {
    const selector = attributes[member]
    if (selector === undefined) continue
    const place = at.child(member)
    const { rawSelector = '', requirements = [] } = selector
    if (rawSelector !== '' && requirements.length > 0) {
      const detail = 'may not specified at the same time as requirements'
      errors.push(field.invalid(place.child('rawSelector'), rawSelector, detail))
    }
    if (rawSelector === '' && requirements.length === 0) {
      const detail = `when ${place} is specified, requirements or rawSelector is required`
      errors.push(field.required(place.child('requirements'), detail))
    }
    const terms = requirements.reduce((sum, { values }) => sum + 1 + (values?.length ?? 0), 0)
    if (terms > maxSelectorTerms) {
      // Differs: kube-apiserver is limited only by the size of the request.
      errors.push(field.invalid(place.child('requirements'), terms, `must have at most ${maxSelectorTerms} terms and values`))
      continue
    }
    for (const [i, requirement] of requirements.entries()) {
      const here = place.child('requirements').index(i)
      errors.push(
        ...(member === 'labelSelector' ? wrongLabelRequirement(requirement, here) : wrongFieldRequirement(requirement, here)),
      )
    }
  }
  return errors
}

interface Requirement {
  readonly key?: string
  readonly operator?: string
  readonly values?: readonly string[]
}

function wrongFieldRequirement(requirement: Requirement, at: Path): FieldError[] {
  const key = (requirement.key ?? '') === '' ? [field.required(at.child('key'), 'must be specified')] : []
  return [...key, ...wrongValues(requirement, at)]
}

function wrongLabelRequirement(requirement: Requirement, at: Path): FieldError[] {
  const { key = '', values = [] } = requirement
  const invalid = (place: Path, value: string, problems: readonly string[]) =>
    problems.map((problem) => field.invalid(place, value, problem))
  return [
    ...wrongValues(requirement, at),
    ...invalid(at.child('key'), key, validateQualifiedNameFormat(key)),
    ...values.flatMap((value, i) => invalid(at.child('values').index(i), value, validateLabelValue(value))),
  ]
}

/** Checks the values of a requirement. Unknown operators are accepted, because newer clients may send new ones. */
function wrongValues({ operator = '', values = [] }: Requirement, at: Path): FieldError[] {
  const errors: FieldError[] = []
  if ((operator === 'In' || operator === 'NotIn') && values.length === 0) {
    errors.push(field.required(at.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"))
  }
  if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length > 0) {
    errors.push(field.forbidden(at.child('values'), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"))
  }
  return errors
}

function wrongSubject({ user = '', groups = [] }: SubjectAccessReviewSpec): FieldError[] {
  if (user !== '' || groups.length > 0) return []
  return [field.invalid(Path.of('spec').child('user'), user, 'at least one of user or group must be specified')]
}

function wrongMetadata({ metadata }: ApiObject, inNamespace: boolean): FieldError[] {
  const { managedFields: _fields, namespace, creationTimestamp, ...rest } = metadata
  const given = {
    ...rest,
    ...(inNamespace || namespace === '' ? {} : { namespace }),
    ...(creationTimestamp ? { creationTimestamp } : {}),
  }
  const isSet = (value: unknown) =>
    value !== undefined && value !== null && value !== '' && (typeof value !== 'object' || Object.keys(value).length > 0)
  if (!Object.values(given).some(isSet)) return []
  const value = goText(
    `v1.ObjectMeta{Name:${goQuote(metadata.name ?? '')}, GenerateName:${goQuote(metadata.generateName ?? '')}}`,
  )
  return [field.invalid(Path.of('metadata'), value, inNamespace ? 'must be empty except for namespace' : 'must be empty')]
}

function printed({ path = '', verb = '' }: NonResourceAttributes) {
  return goText(`authorization.NonResourceAttributes{Path:${goQuote(path)}, Verb:${goQuote(verb)}}`)
}

/** Throws a 422 if there are errors. As on kube-apiserver, it names no kind. */
function refuseIfWrong({ definition, features }: RequestScope, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw ApiError.invalid({ group: definition.kind.group, kind: '' }, '', errors, features)
}
