/** FlowSchema. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goQuote, goStrings, goText } from '@krmkit/meta/go-text'
import { validateDns1123Label, validateDns1123Subdomain } from '@krmkit/meta/names'
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../../types/flowcontrol-v1.generated.ts'
import { semanticEqual } from '../../shared/equality.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { validateMetadata } from '../../shared/metadata.ts'
import { isEmpty, isSet, type R } from '../../shared/values.ts'
import { flowControlStrategy, validateFlowConditions } from '../flow-control-strategy.ts'
import { goFlowSchemaSpec } from '../go-form.ts'
import { mandatoryFlowSchemas } from '../mandatory.ts'

const precedence = 1000
const maxPrecedence = 10_000
const distinguishers = ['ByNamespace', 'ByUser']
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const subjectKinds = ['Group', 'ServiceAccount', 'User']

const emptySpec: R<FlowSchemaSpec> = { priorityLevelConfiguration: { name: '' } }

function* validateSchema(schema: DeepReadonly<FlowSchema>, errors: ContextErrorList): Work {
  yield* validateMetadata(schema, errors, { namespaced: false })
  const name = schema.metadata.name ?? ''
  const spec = schema.spec ?? emptySpec
  validateSpec(spec, name, errors.child('spec'))
  const fixed = mandatoryFlowSchemas.get(name)
  if (fixed !== undefined && !(yield* semanticEqual(spec, fixed))) {
    errors.child('spec').invalid(goFlowSchemaSpec(spec), `spec of '${name}' must equal the fixed value`)
  }
  validateFlowConditions(schema.status?.conditions, errors.child('status').child('conditions'))
}

function validateSpec(spec: R<FlowSchemaSpec>, name: string, at: FieldPath): void {
  const { matchingPrecedence: rank = 0, distinguisherMethod } = spec
  const here = at.child('matchingPrecedence')
  if (rank <= 0) here.invalid(rank, 'must be a positive value')
  if (rank > maxPrecedence) here.invalid(rank, `must not be greater than ${maxPrecedence}`)
  if (rank === 1 && name !== 'exempt') here.invalid(rank, "only the schema named 'exempt' may have matchingPrecedence 1")
  if (isSet(distinguisherMethod) && !distinguishers.includes(distinguisherMethod.type)) {
    const printed = goText(`flowcontrol.FlowDistinguisherMethod{Type:${goQuote(distinguisherMethod.type)}}`)
    at.child('distinguisherMethod').child('type').notSupported(printed, distinguishers)
  }
  const level = spec.priorityLevelConfiguration?.name ?? ''
  const levelAt = at.child('priorityLevelConfiguration').child('name')
  if (level === '') levelAt.required('must reference a priority level')
  else levelAt.invalidAll(level, validateDns1123Subdomain(level))
  for (const [i, rule] of (spec.rules ?? []).entries()) validateRules(rule, at.child('rules').index(i))
}

function validateRules({ subjects, resourceRules = [], nonResourceRules = [] }: R<PolicyRulesWithSubjects>, at: FieldPath): void {
  if (isEmpty(subjects)) at.child('subjects').required('subjects must contain at least one value')
  for (const [i, subject] of (subjects ?? []).entries()) validateSubject(subject, at.child('subjects').index(i))
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    at.required('at least one of resourceRules and nonResourceRules has to be non-empty')
  }
  for (const [i, rule] of resourceRules.entries()) validateResourceRule(rule, at.child('resourceRules').index(i))
  for (const [i, rule] of nonResourceRules.entries()) validateNonResourceRule(rule, at.child('nonResourceRules').index(i))
}

const subjectMembers: ReadonlyMap<string, 'serviceAccount' | 'user' | 'group'> = new Map([
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
])

function validateSubject(subject: R<Subject>, at: FieldPath): void {
  const kind = subject.kind ?? ''
  const member = subjectMembers.get(kind)
  if (member === undefined) {
    at.child('kind').notSupported(kind, subjectKinds)
    return
  }
  const here = at.child(member)
  const named = subject[member]
  if (!isSet(named)) here.required(`${member} is required when subject kind is '${kind}'`)
  else {
    if (isEmpty(named.name)) here.child('name').required()
    if (kind === 'ServiceAccount' && isSet(subject.serviceAccount)) validateAccount(subject.serviceAccount, here)
  }
  for (const [other, name] of subjectMembers) {
    if (name !== member && isSet(subject[name]))
      at.child(name).forbidden(`${name} is forbidden when subject kind is not '${other}'`)
  }
}

function validateAccount({ name = '', namespace = '' }: NonNullable<R<Subject>['serviceAccount']>, at: FieldPath): void {
  if (name !== '' && name !== '*') at.child('name').invalidAll(name, validateDns1123Subdomain(name))
  if (namespace === '') at.child('namespace').required('must specify namespace for service account')
  else at.child('namespace').invalidAll(namespace, validateDns1123Label(namespace))
}

function validateVerbs(list: readonly string[] | null | undefined, at: FieldPath): void {
  if (isEmpty(list)) {
    at.required('verbs must contain at least one value')
    return
  }
  if (list.includes('*')) {
    if (list.length > 1) at.invalidText(goStrings(list), "if '*' is present, must not specify other verbs")
  } else if (!list.every((verb) => verbs.includes(verb))) at.notSupported(goText(goStrings(list)), verbs)
}

function validateResourceRule(rule: R<ResourcePolicyRule>, at: FieldPath): void {
  validateVerbs(rule.verbs, at.child('verbs'))
  validateNames(rule.apiGroups, at.child('apiGroups'), ['at least one api group', 'other api groups'])
  validateNames(rule.resources, at.child('resources'), ['at least one resource', 'other resources'])
  const namespaces = rule.namespaces ?? []
  const here = at.child('namespaces')
  if (namespaces.length === 0 && rule.clusterScope !== true) {
    here.required('resource rules that are not cluster scoped must supply at least one namespace')
  } else if (namespaces.includes('*')) {
    if (namespaces.length > 1) here.invalidText(goStrings(namespaces), "if '*' is present, must not specify other namespaces")
  } else {
    for (const [i, namespace] of namespaces.entries()) {
      const messages = validateDns1123Label(namespace).map(
        (text) => `each member of this list must be '*' or a DNS-1123 label; ${text}`,
      )
      here.index(i).invalidAll(namespace, messages)
    }
  }
}

function validateNames(
  list: readonly string[] | null | undefined,
  at: FieldPath,
  [needed, others]: readonly [string, string],
): void {
  if (isEmpty(list)) at.required(`resource rules must supply ${needed}`)
  else if (list.length > 1 && list.includes('*')) at.invalidText(goStrings(list), `if '*' is present, must not specify ${others}`)
}

function validateNonResourceRule(rule: R<NonResourcePolicyRule>, at: FieldPath): void {
  validateVerbs(rule.verbs, at.child('verbs'))
  const urls = rule.nonResourceURLs ?? []
  const here = at.child('nonResourceURLs')
  if (urls.length === 0) here.required('nonResourceURLs must contain at least one value')
  else if (urls.includes('*')) {
    if (urls.length > 1) here.invalidText(goStrings(urls), "if '*' is present, must not specify other non-resource URLs")
  } else for (const [i, url] of urls.entries()) validateUrl(url, here.index(i))
}

function validateUrl(url: string, at: FieldPath): void {
  const stars = url.split('*').length - 1
  if (url === '') at.invalid(url, 'must not be empty')
  else if (url === '/') return
  else if (!url.startsWith('/')) at.invalid(url, 'must start with slash')
  else if (url.includes(' ')) at.invalid(url, 'must not contain white-space')
  else if (url.includes('//')) at.invalid(url, 'must not contain double slash')
  else if (stars > 1 || (stars === 1 && !url.endsWith('/*'))) at.invalid(url, 'wildcard can only do suffix matching')
}

export const flowSchemaStrategy = flowControlStrategy<FlowSchema>({
  defaults(schema) {
    schema.spec ??= { priorityLevelConfiguration: { name: '' } }
    if (!schema.spec.matchingPrecedence) schema.spec.matchingPrecedence = precedence
  },
  validate: validateSchema,
})
