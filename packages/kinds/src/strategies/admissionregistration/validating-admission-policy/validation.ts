/** Rules of ValidatingAdmissionPolicy. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { trimSpace } from '@krmkit/meta/go-text'
import { validateConditions } from '@krmkit/meta/validation'
import type {
  AuditAnnotation,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '../../../types/admissionregistration-v1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { jsonPathProblem } from '../../shared/json-path-syntax.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { validateQualifiedName } from '../../shared/names.ts'
import type { R } from '../../shared/values.ts'
import {
  compilePolicyExpression as compile,
  type PolicyEnvironment as Environment,
  validatePolicySpec,
} from '../policy-members.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const maxAnnotations = 20
const maxAnnotationExpression = 5 * 1024

type Policy = DeepReadonly<ValidatingAdmissionPolicy>

export function* validateValidatingPolicy(policy: Policy, old: Policy | undefined, errors: ContextErrorList): Work {
  yield* validateMetadata(policy, errors, { namespaced: false, bareFinalizers: true })
  const at = errors.child('spec')
  const spec: R<ValidatingAdmissionPolicySpec> = policy.spec ?? {}
  const environment = yield* validatePolicySpec(spec, old === undefined ? undefined : (old.spec ?? {}), at, {
    stored: expressionsOf(old),
  })
  yield* validateValidations(policy, at, environment)
}

function expressionsOf(old: Policy | undefined): ReadonlySet<string> {
  const { variables = [], validations = [], matchConditions = [], auditAnnotations = [] } = old?.spec ?? {}
  return new Set([
    ...variables.map(({ expression }) => expression),
    ...validations.flatMap(({ expression, messageExpression = '' }) => [expression, messageExpression]),
    ...matchConditions.map(({ expression }) => trimSpace(expression)),
    ...auditAnnotations.map(({ valueExpression }) => valueExpression),
  ])
}

function* validateValidations(policy: Policy, at: FieldPath, environment: Environment): Work {
  const { validations = [], auditAnnotations = [] } = policy.spec ?? {}
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    at.child('validations').required(detail)
    at.child('auditAnnotations').required(detail)
    return
  }
  for (const [i, validation] of validations.entries()) {
    validateValidation(validation, at.child('validations').index(i), environment)
    yield true
  }
  const here = at.child('auditAnnotations')
  if (auditAnnotations.length > maxAnnotations)
    here.invalid(auditAnnotations, `must not have more than ${maxAnnotations} auditAnnotations`)
  const keys = new Set<string>()
  for (const [i, annotation] of auditAnnotations.entries()) {
    validateAnnotation(annotation, here.index(i), { policyName: policy.metadata.name ?? '', environment })
    if (keys.has(annotation.key)) here.index(i).child('key').duplicate(annotation.key)
    keys.add(annotation.key)
    yield true
  }
}

function validateValidation(
  { expression = '', message = '', messageExpression = '', reason }: R<Validation>,
  at: FieldPath,
  environment: Environment,
): void {
  if (trimSpace(expression) === '') at.child('expression').required('expression is not specified')
  else compile(expression, at.child('expression'), { environment, kinds: ['bool'] })
  if (messageExpression !== '' && trimSpace(messageExpression) === '') {
    at.child('messageExpression').invalid(messageExpression, 'must be non-empty if specified')
  } else if (messageExpression !== '') {
    compile(messageExpression, at.child('messageExpression'), { environment, authorizer: false, kinds: ['string'] })
  }
  const here = at.child('message')
  if (message !== '' && trimSpace(message) === '') here.invalid(message, 'message must be non-empty if specified')
  else if (/[\n\r]/.test(trimSpace(message))) here.invalid(message, 'message must not contain line breaks')
  validateEnum(reason, at.child('reason'), reasons)
}

function validateAnnotation(
  { key = '', valueExpression = '' }: R<AuditAnnotation>,
  at: FieldPath,
  { policyName, environment }: { policyName: string; environment: Environment },
): void {
  if (policyName === '') at.child('key').invalid(key, 'requires metadata.name be non-empty')
  else validateQualifiedName(`${policyName}/${key}`, at.child('key'))
  const text = trimSpace(valueExpression)
  if (text === '') at.child('valueExpression').required('valueExpression is not specified')
  else if (text.length > maxAnnotationExpression) {
    at.child('valueExpression').required(`must not exceed ${maxAnnotationExpression} bytes in length`)
  } else compile(valueExpression, at.child('valueExpression'), { environment, kinds: ['string', 'null'] })
}

function validateFieldRef(path: string, at: FieldPath): void {
  if (path === '') at.required()
  else {
    const problem = jsonPathProblem(path)
    if (problem !== undefined) at.invalid(path, `invalid JSONPath: ${problem}`)
  }
}

export function validatePolicyStatus({ status }: Policy, at: FieldPath): void {
  for (const [i, { fieldRef = '', warning = '' }] of (status?.typeChecking?.expressionWarnings ?? []).entries()) {
    const here = at.child('typeChecking').child('expressionWarnings').index(i)
    if (warning === '') here.child('warning').required()
    validateFieldRef(trimSpace(fieldRef), here.child('fieldRef'))
  }
  at.add(validateConditions(status?.conditions ?? [], at.child('conditions').path()))
}
