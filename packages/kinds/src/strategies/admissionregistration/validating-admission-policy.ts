/** Admission policies written as expressions, and what they are bound to. */

import {
  type DeepReadonly,
  goStrings,
  nameRules,
  validateConditions,
  validateDns1035Label,
  validateDns1123Subdomain,
} from '@krmkit/meta'
import type { Type } from '@krmkit/schema/cel'
import type {
  AuditAnnotation,
  ParamKind,
  ParamRef,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  ValidatingAdmissionPolicySpec,
  Validation,
} from '../../types/admissionregistration-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkLabelSelector } from '../shared/labels.ts'
import { checkMetadata, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { checkQualifiedName } from '../shared/names.ts'
import { resetStatusMetadata } from '../shared/status-metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import { checkExpression, type ExpressionChecks, expressionChecks, loadCel, seenType } from './admission-expressions.ts'
import { checkMatchConditions } from './match-conditions.ts'
import { checkMatchResources, defaultMatchResources } from './match-resources.ts'
import { checkChoice, failurePolicies } from './webhooks.ts'

const reasons = ['Forbidden', 'Invalid', 'RequestEntityTooLarge']
const maxAnnotations = 20
const maxAnnotationExpression = 5 * 1024

type Policy = DeepReadonly<ValidatingAdmissionPolicy>

function checkPolicy(policy: Policy, old: Policy | undefined, report: Report): void {
  checkMetadata(policy, report, { namespaced: false })
  const at = report.at('spec')
  const spec: R<ValidatingAdmissionPolicySpec> = policy.spec ?? {}
  if (!isSet(spec.failurePolicy)) at.child('failurePolicy').required()
  checkChoice(spec.failurePolicy, at.child('failurePolicy'), failurePolicies)
  if (isSet(spec.paramKind)) checkParamKind(spec.paramKind, at.child('paramKind'))
  if (isSet(spec.matchConstraints)) {
    checkMatchResources(spec.matchConstraints, at.child('matchConstraints'))
    if (isEmpty(spec.matchConstraints.resourceRules)) at.child('matchConstraints').child('resourceRules').required()
  } else at.child('matchConstraints').required()
  const same =
    old !== undefined &&
    semanticEqual(spec.paramKind, old.spec?.paramKind) &&
    semanticEqual(spec.matchConditions, old.spec?.matchConditions)
  const params = isSet(spec.paramKind)
  const checks = expressionChecks(expressionsOf(old), report.context)
  if (!same) checkMatchConditions(spec.matchConditions, at.child('matchConditions'), { params, checks })
  const seen: Seen = { params, checks, variables: isEmpty(spec.variables) ? undefined : new Map() }
  checkVariables(spec, at.child('variables'), seen)
  checkValidations(policy, at, seen)
}

/** What the expressions of a policy see. */
interface Seen {
  readonly params: boolean
  readonly checks: ExpressionChecks
  readonly variables: Map<string, Type> | undefined
}

function expressionsOf(old: Policy | undefined): ReadonlySet<string> {
  const { variables = [], validations = [], matchConditions = [], auditAnnotations = [] } = old?.spec ?? {}
  return new Set([
    ...variables.map(({ expression }) => expression),
    ...validations.flatMap(({ expression, messageExpression = '' }) => [expression, messageExpression]),
    ...matchConditions.map(({ expression }) => expression.trim()),
    ...auditAnnotations.map(({ valueExpression }) => valueExpression),
  ])
}

/** Expressions may use the variables before them. */
function compile(
  text: string,
  at: FieldPath,
  { seen, authorizer = true, kinds }: { seen: Seen; authorizer?: boolean; kinds?: readonly Type['kind'][] },
): Type | undefined {
  const { params, checks, variables } = seen
  const scope = { params, authorizer, ...(variables === undefined ? {} : { variables }) }
  return checkExpression(text, at, { scope, checks, ...(kinds === undefined ? {} : { kinds }) })
}

function checkParamKind({ apiVersion = '', kind = '' }: R<ParamKind>, at: FieldPath): void {
  const here = at.child('apiVersion')
  const parts = apiVersion === '/' ? [''] : apiVersion.split('/')
  const version = parts.at(-1) ?? ''
  const group = parts.length === 2 ? (parts[0] ?? '') : ''
  if (apiVersion === '') here.required()
  else if (parts.length > 2) here.invalid(apiVersion, `unexpected GroupVersion string: ${apiVersion}`)
  else {
    const wrongGroup = group === '' ? [] : validateDns1123Subdomain(group)
    if (wrongGroup.length > 0) here.invalid(group, wrongGroup.join(','))
    const wrongVersion = validateDns1035Label(version)
    if (version === '') here.invalid(apiVersion, 'version must be specified')
    else if (wrongVersion.length > 0) here.invalid(version, wrongVersion.join(','))
  }
  const wrongKind = validateDns1035Label(kind.toLowerCase())
  if (kind === '') at.child('kind').required()
  else if (wrongKind.length > 0) {
    at.child('kind').invalid(kind, `may have mixed case, but should otherwise match: ${wrongKind.join(',')}`)
  }
}

/** Words that the expression language keeps for itself. */
const reservedWords = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
)

function checkVariables({ variables = [] }: R<ValidatingAdmissionPolicySpec>, at: FieldPath, seen: Seen): void {
  for (const [i, { name = '', expression = '' }] of variables.entries()) {
    const here = at.index(i)
    if (name.trim() === '') here.child('name').required('name is not specified')
    else if (!/^[_a-zA-Z][_a-zA-Z0-9]*$/.test(name) || reservedWords.has(name)) {
      here.child('name').invalid(name, 'name is not a valid CEL identifier')
    }
    if (expression.trim() === '') here.child('expression').required('expression is not specified')
    else seen.variables?.set(name, seenType(compile(expression, here.child('expression'), { seen })))
  }
}

function checkValidations(policy: Policy, at: FieldPath, seen: Seen): void {
  const { validations = [], auditAnnotations = [] } = policy.spec ?? {}
  if (validations.length === 0 && auditAnnotations.length === 0) {
    const detail = 'validations or auditAnnotations must contain at least one item'
    at.child('validations').required(detail)
    at.child('auditAnnotations').required(detail)
    return
  }
  for (const [i, validation] of validations.entries()) checkValidation(validation, at.child('validations').index(i), seen)
  const here = at.child('auditAnnotations')
  if (auditAnnotations.length > maxAnnotations)
    here.invalid(auditAnnotations, `must not have more than ${maxAnnotations} auditAnnotations`)
  const keys = new Set<string>()
  for (const [i, annotation] of auditAnnotations.entries()) {
    checkAnnotation(annotation, here.index(i), { policyName: policy.metadata.name ?? '', seen })
    if (keys.has(annotation.key)) here.index(i).child('key').duplicate(annotation.key)
    keys.add(annotation.key)
  }
}

function checkValidation(
  { expression = '', message = '', messageExpression = '', reason }: R<Validation>,
  at: FieldPath,
  seen: Seen,
): void {
  if (expression.trim() === '') at.child('expression').required('expression is not specified')
  else compile(expression, at.child('expression'), { seen, kinds: ['bool'] })
  if (messageExpression !== '' && messageExpression.trim() === '') {
    at.child('messageExpression').invalid(messageExpression, 'must be non-empty if specified')
  } else if (messageExpression !== '') {
    compile(messageExpression, at.child('messageExpression'), { seen, authorizer: false, kinds: ['string'] })
  }
  const here = at.child('message')
  if (message !== '' && message.trim() === '') here.invalid(message, 'message must be non-empty if specified')
  else if (/[\n\r]/.test(message.trim())) here.invalid(message, 'message must not contain line breaks')
  checkChoice(reason, at.child('reason'), reasons)
}

function checkAnnotation(
  { key = '', valueExpression = '' }: R<AuditAnnotation>,
  at: FieldPath,
  { policyName, seen }: { policyName: string; seen: Seen },
): void {
  if (policyName === '') at.child('key').invalid(key, 'requires metadata.name be non-empty')
  else checkQualifiedName(`${policyName}/${key}`, at.child('key'))
  const text = valueExpression.trim()
  if (text === '') at.child('valueExpression').required('valueExpression is not specified')
  else if (text.length > maxAnnotationExpression) {
    at.child('valueExpression').required(`must not exceed ${maxAnnotationExpression} bytes in length`)
  } else compile(valueExpression, at.child('valueExpression'), { seen, kinds: ['string', 'null'] })
}

function checkStatus({ status }: Policy, at: FieldPath): void {
  for (const [i, { fieldRef = '', warning = '' }] of (status?.typeChecking?.expressionWarnings ?? []).entries()) {
    const here = at.child('typeChecking').child('expressionWarnings').index(i)
    if (warning === '') here.child('warning').required()
    if (fieldRef.trim() === '') here.child('fieldRef').required()
  }
  at.add(validateConditions(status?.conditions ?? [], at.child('conditions').path()))
}

export const validatingAdmissionPolicyStrategy = defineStrategy<ValidatingAdmissionPolicy>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(policy) {
    policy.spec ??= {}
    policy.spec.failurePolicy ??= 'Fail'
    defaultMatchResources(policy.spec.matchConstraints)
  },
  prepareForCreate(policy) {
    policy.status = {}
    startGeneration(policy)
  },
  prepareForUpdate(policy, old) {
    keepMembers(policy, old, 'status')
    raiseGeneration(policy, old, 'spec')
  },
  ready: loadCel,
  validate(policy, context) {
    return findings(context, (report) => checkPolicy(policy, undefined, report))
  },
  validateUpdate(policy, old, context) {
    return findings(context, (report) => checkPolicy(policy, old, report))
  },
  subresources: {
    status: {
      prepareForUpdate(policy, old) {
        keepMembers(policy, old, 'spec')
        resetStatusMetadata(policy, old)
      },
      validateUpdate(policy, _old, context) {
        return findings(context, (report) => checkStatus(policy, report.at('status')))
      },
    },
  },
  resetFields: { '': [['status']], status: [['metadata'], ['spec']] },
})

const actions = ['Audit', 'Deny', 'Warn']
const missingActions = ['Deny', 'Allow']

function checkBinding(binding: DeepReadonly<ValidatingAdmissionPolicyBinding>, report: Report): void {
  checkMetadata(binding, report, { namespaced: false })
  const at = report.at('spec')
  const { policyName, paramRef, matchResources, validationActions = [] } = binding.spec ?? {}
  if (isEmpty(policyName)) at.child('policyName').required()
  else at.child('policyName').invalidAll(policyName, validateDns1123Subdomain(policyName))
  if (isSet(paramRef)) checkParamRef(paramRef, at.child('paramRef'))
  checkMatchResources(matchResources, at.child('matchResources'))
  checkActions(validationActions, at.child('validationActions'))
}

function checkParamRef({ name = '', selector, parameterNotFoundAction: action }: R<ParamRef>, at: FieldPath): void {
  const exclusive = 'name and selector are mutually exclusive'
  if (name !== '') {
    at.child('name').invalidAll(name, nameRules.pathSegment(name, false))
    if (isSet(selector)) at.child('name').forbidden(exclusive)
  }
  if (isSet(selector)) {
    checkLabelSelector(selector, at.child('selector'))
    if (name !== '') at.child('selector').forbidden(exclusive)
  } else if (name === '') at.required('one of name or selector must be specified')
  if (isEmpty(action)) at.child('parameterNotFoundAction').required()
  else checkChoice(action, at.child('parameterNotFoundAction'), missingActions)
}

function checkActions(list: readonly string[], at: FieldPath): void {
  const seen = new Set<string>()
  for (const [i, action] of list.entries()) {
    checkChoice(action, at.index(i), actions)
    if (seen.has(action)) at.index(i).duplicate(action)
    seen.add(action)
  }
  if (seen.has('Deny') && seen.has('Warn')) {
    const printed = goStrings(list).replace('[]string', '[]admissionregistration.ValidationAction')
    const why = '(repeating the same validation failure information in the API response and headers serves no purpose)'
    at.invalidText(printed, `must not contain both Deny and Warn ${why}`)
  }
  if (list.length === 0) at.required('at least one validation action is required')
}

export const validatingAdmissionPolicyBindingStrategy = defineStrategy<ValidatingAdmissionPolicyBinding>({
  keepInMemory: true,
  allowUnconditionalUpdate: false,
  defaults(binding) {
    defaultMatchResources(binding.spec?.matchResources)
  },
  prepareForCreate: startGeneration,
  prepareForUpdate(binding, old) {
    raiseGeneration(binding, old, 'spec')
  },
  validate(binding, context) {
    return findings(context, (report) => checkBinding(binding, report))
  },
  validateUpdate(binding, _old, context) {
    return findings(context, (report) => checkBinding(binding, report))
  },
})
