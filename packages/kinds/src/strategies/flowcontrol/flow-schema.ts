/** Flow schemas: which requests belong to which priority level. */
import { type DeepReadonly, goStrings, goText, validateDns1123Label, validateDns1123Subdomain } from '@krmkit/meta'
import type {
  FlowSchema,
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  ResourcePolicyRule,
  Subject,
} from '../../types/flowcontrol-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, keepMembers, raiseGeneration, startGeneration } from '../shared/metadata.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, type R, semanticEqual } from '../shared/values.ts'
import { mandatoryFlowSchemas } from './mandatory.ts'
import { checkFlowConditions, keepFlowMetadata } from './status.ts'

const precedence = 1000
const maxPrecedence = 10_000
const distinguishers = ['ByNamespace', 'ByUser']
const verbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch']
const subjectKinds = ['Group', 'ServiceAccount', 'User']

const emptySpec: R<FlowSchemaSpec> = { priorityLevelConfiguration: { name: '' } }

function checkSchema(schema: DeepReadonly<FlowSchema>, report: Report): void {
  checkMetadata(schema, report, { namespaced: false })
  const name = schema.metadata.name ?? ''
  const spec = schema.spec ?? emptySpec
  checkSpec(spec, name, report.at('spec'))
  const fixed = mandatoryFlowSchemas.get(name)
  if (fixed !== undefined && !semanticEqual(spec, fixed)) {
    report.at('spec').invalid(goText('flowcontrol.FlowSchemaSpec{}'), `spec of '${name}' must equal the fixed value`)
  }
  checkFlowConditions(schema.status?.conditions, report.at('status').child('conditions'))
}

function checkSpec(spec: R<FlowSchemaSpec>, name: string, at: FieldPath): void {
  const { matchingPrecedence: rank = 0, distinguisherMethod } = spec
  const here = at.child('matchingPrecedence')
  if (rank <= 0) here.invalid(rank, 'must be a positive value')
  if (rank > maxPrecedence) here.invalid(rank, `must not be greater than ${maxPrecedence}`)
  if (rank === 1 && name !== 'exempt') here.invalid(rank, "only the schema named 'exempt' may have matchingPrecedence 1")
  if (isSet(distinguisherMethod) && !distinguishers.includes(distinguisherMethod.type)) {
    const printed = goText(`flowcontrol.FlowDistinguisherMethod{Type:${JSON.stringify(distinguisherMethod.type)}}`)
    at.child('distinguisherMethod').child('type').notSupported(printed, distinguishers)
  }
  const level = spec.priorityLevelConfiguration?.name ?? ''
  const levelAt = at.child('priorityLevelConfiguration').child('name')
  if (level === '') levelAt.required('must reference a priority level')
  else levelAt.invalidAll(level, validateDns1123Subdomain(level))
  for (const [i, rule] of (spec.rules ?? []).entries()) checkRules(rule, at.child('rules').index(i))
}

function checkRules({ subjects, resourceRules = [], nonResourceRules = [] }: R<PolicyRulesWithSubjects>, at: FieldPath): void {
  if (isEmpty(subjects)) at.child('subjects').required('subjects must contain at least one value')
  for (const [i, subject] of (subjects ?? []).entries()) checkSubject(subject, at.child('subjects').index(i))
  if (resourceRules.length === 0 && nonResourceRules.length === 0) {
    at.required('at least one of resourceRules and nonResourceRules has to be non-empty')
  }
  for (const [i, rule] of resourceRules.entries()) checkResourceRule(rule, at.child('resourceRules').index(i))
  for (const [i, rule] of nonResourceRules.entries()) checkNonResourceRule(rule, at.child('nonResourceRules').index(i))
}

const subjectMembers: ReadonlyMap<string, 'serviceAccount' | 'user' | 'group'> = new Map([
  ['ServiceAccount', 'serviceAccount'],
  ['User', 'user'],
  ['Group', 'group'],
])

function checkSubject(subject: R<Subject>, at: FieldPath): void {
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
    if (kind === 'ServiceAccount' && isSet(subject.serviceAccount)) checkAccount(subject.serviceAccount, here)
  }
  for (const [other, name] of subjectMembers) {
    if (name !== member && isSet(subject[name]))
      at.child(name).forbidden(`${name} is forbidden when subject kind is not '${other}'`)
  }
}

function checkAccount({ name = '', namespace = '' }: NonNullable<R<Subject>['serviceAccount']>, at: FieldPath): void {
  if (name !== '' && name !== '*') at.child('name').invalidAll(name, validateDns1123Subdomain(name))
  if (namespace === '') at.child('namespace').required('must specify namespace for service account')
  else at.child('namespace').invalidAll(namespace, validateDns1123Label(namespace))
}

function checkVerbs(list: readonly string[] | null | undefined, at: FieldPath): void {
  if (isEmpty(list)) {
    at.required('verbs must contain at least one value')
    return
  }
  if (list.includes('*')) {
    if (list.length > 1) at.invalidText(goStrings(list), "if '*' is present, must not specify other verbs")
  } else if (!list.every((verb) => verbs.includes(verb))) at.notSupported(goText(goStrings(list)), verbs)
}

function checkResourceRule(rule: R<ResourcePolicyRule>, at: FieldPath): void {
  checkVerbs(rule.verbs, at.child('verbs'))
  checkNames(rule.apiGroups, at.child('apiGroups'), ['at least one api group', 'other api groups'])
  checkNames(rule.resources, at.child('resources'), ['at least one resource', 'other resources'])
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

function checkNames(
  list: readonly string[] | null | undefined,
  at: FieldPath,
  [needed, others]: readonly [string, string],
): void {
  if (isEmpty(list)) at.required(`resource rules must supply ${needed}`)
  else if (list.length > 1 && list.includes('*')) at.invalidText(goStrings(list), `if '*' is present, must not specify ${others}`)
}

function checkNonResourceRule(rule: R<NonResourcePolicyRule>, at: FieldPath): void {
  checkVerbs(rule.verbs, at.child('verbs'))
  const urls = rule.nonResourceURLs ?? []
  const here = at.child('nonResourceURLs')
  if (urls.length === 0) here.required('nonResourceURLs must contain at least one value')
  else if (urls.includes('*')) {
    if (urls.length > 1) here.invalidText(goStrings(urls), "if '*' is present, must not specify other non-resource URLs")
  } else for (const [i, url] of urls.entries()) checkUrl(url, here.index(i))
}

function checkUrl(url: string, at: FieldPath): void {
  const stars = url.split('*').length - 1
  if (url === '') at.invalid(url, 'must not be empty')
  else if (url === '/') return
  else if (!url.startsWith('/')) at.invalid(url, 'must start with slash')
  else if (url.includes(' ')) at.invalid(url, 'must not contain white-space')
  else if (url.includes('//')) at.invalid(url, 'must not contain double slash')
  else if (stars > 1 || (stars === 1 && !url.endsWith('/*'))) at.invalid(url, 'wildcard can only do suffix matching')
}

export const flowSchemaStrategy = defineStrategy<FlowSchema>({
  keepInMemory: true,
  defaults(schema) {
    schema.spec ??= { priorityLevelConfiguration: { name: '' } }
    if (!schema.spec.matchingPrecedence) schema.spec.matchingPrecedence = precedence
  },
  prepareForCreate(schema) {
    schema.status = {}
    startGeneration(schema)
  },
  prepareForUpdate(schema, old) {
    keepMembers(schema, old, 'status')
    raiseGeneration(schema, old, 'spec')
  },
  validate(schema, context) {
    return findings(context, (report) => checkSchema(schema, report))
  },
  validateUpdate(schema, _old, context) {
    return findings(context, (report) => checkSchema(schema, report))
  },
  subresources: {
    status: {
      prepareForUpdate(schema, old) {
        keepMembers(schema, old, 'spec')
        keepFlowMetadata(schema, old)
      },
      validateUpdate(schema, _old, context) {
        return findings(context, (report) =>
          checkFlowConditions(schema.status?.conditions, report.at('status').child('conditions')),
        )
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec'], ['metadata']] },
})
