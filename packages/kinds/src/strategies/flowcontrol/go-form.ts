/** Specifications of flow control in messages, printed as Go prints them. */
import { type GoText, goQuote, goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from '../../types/flowcontrol-v1.generated.ts'
import { goPointer, goStruct } from '../shared/go-form.ts'
import { isSet, type R } from '../shared/values.ts'

const typeOf = (name: string): string => `flowcontrol.${name}`
const pointer = (value: unknown, name: string): string => goPointer(value, typeOf(name))
const strings = (values: readonly string[] | null | undefined): string => (isSet(values) ? goStrings(values) : '[]string(nil)')

function list<T>(
  name: string,
  items: readonly T[] | null | undefined,
  print: (item: T) => Readonly<Record<string, string>>,
): string {
  const type = typeOf(name)
  return isSet(items) ? `[]${type}{${joinFormatted(items, (item) => goStruct(type, print(item)))}}` : `[]${type}(nil)`
}

export function goFlowSchemaSpec(spec: R<FlowSchemaSpec>): GoText {
  const { priorityLevelConfiguration, matchingPrecedence = 0, distinguisherMethod, rules } = spec
  const level = { Name: goQuote(priorityLevelConfiguration?.name ?? '') }
  return goText(
    goStruct(typeOf('FlowSchemaSpec'), {
      PriorityLevelConfiguration: goStruct(typeOf('PriorityLevelConfigurationReference'), level),
      MatchingPrecedence: String(matchingPrecedence),
      DistinguisherMethod: pointer(distinguisherMethod, 'FlowDistinguisherMethod'),
      Rules: list('PolicyRulesWithSubjects', rules, rulesMembers),
    }),
  )
}

const rulesMembers = ({ subjects, resourceRules, nonResourceRules }: R<PolicyRulesWithSubjects>) => ({
  Subjects: list('Subject', subjects, subjectMembers),
  ResourceRules: list('ResourcePolicyRule', resourceRules, resourceMembers),
  NonResourceRules: list('NonResourcePolicyRule', nonResourceRules, nonResourceMembers),
})

const subjectMembers = ({ kind, user, group, serviceAccount }: R<Subject>) => ({
  Kind: goQuote(kind ?? ''),
  User: pointer(user, 'UserSubject'),
  Group: pointer(group, 'GroupSubject'),
  ServiceAccount: pointer(serviceAccount, 'ServiceAccountSubject'),
})

const resourceMembers = ({ verbs, apiGroups, resources, clusterScope, namespaces }: R<ResourcePolicyRule>) => ({
  Verbs: strings(verbs),
  APIGroups: strings(apiGroups),
  Resources: strings(resources),
  ClusterScope: String(clusterScope ?? false),
  Namespaces: strings(namespaces),
})

const nonResourceMembers = ({ verbs, nonResourceURLs }: R<NonResourcePolicyRule>) => ({
  Verbs: strings(verbs),
  NonResourceURLs: strings(nonResourceURLs),
})

export function goPriorityLevelSpec({ type, limited, exempt }: R<PriorityLevelConfigurationSpec>): GoText {
  return goText(
    goStruct(typeOf('PriorityLevelConfigurationSpec'), {
      Type: goQuote(type ?? ''),
      Limited: pointer(limited, 'LimitedPriorityLevelConfiguration'),
      Exempt: pointer(exempt, 'ExemptPriorityLevelConfiguration'),
    }),
  )
}
