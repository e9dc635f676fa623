/** Specifications of flow control in messages, printed as Go prints them. */
import { type GoText, goQuote, goText } from '@krmkit/meta/go-text'
import type {
  FlowSchemaSpec,
  NonResourcePolicyRule,
  PolicyRulesWithSubjects,
  PriorityLevelConfigurationSpec,
  ResourcePolicyRule,
  Subject,
} from '../../types/flowcontrol-v1.generated.ts'
import { goPointer, goStringList, goStruct, goStructs } from '../shared/go-form.ts'
import type { R } from '../shared/values.ts'

const typeOf = (name: string): string => `flowcontrol.${name}`
const pointer = (value: unknown, name: string): string => goPointer(value, typeOf(name))

export function goFlowSchemaSpec(spec: R<FlowSchemaSpec>): GoText {
  const { priorityLevelConfiguration, matchingPrecedence = 0, distinguisherMethod, rules } = spec
  const level = { Name: goQuote(priorityLevelConfiguration?.name ?? '') }
  return goText(
    goStruct(typeOf('FlowSchemaSpec'), {
      PriorityLevelConfiguration: goStruct(typeOf('PriorityLevelConfigurationReference'), level),
      MatchingPrecedence: String(matchingPrecedence),
      DistinguisherMethod: pointer(distinguisherMethod, 'FlowDistinguisherMethod'),
      Rules: goStructs(typeOf('PolicyRulesWithSubjects'), rules, rulesMembers),
    }),
  )
}

const rulesMembers = ({ subjects, resourceRules, nonResourceRules }: R<PolicyRulesWithSubjects>) => ({
  Subjects: goStructs(typeOf('Subject'), subjects, subjectMembers),
  ResourceRules: goStructs(typeOf('ResourcePolicyRule'), resourceRules, resourceMembers),
  NonResourceRules: goStructs(typeOf('NonResourcePolicyRule'), nonResourceRules, nonResourceMembers),
})

const subjectMembers = ({ kind, user, group, serviceAccount }: R<Subject>) => ({
  Kind: goQuote(kind ?? ''),
  User: pointer(user, 'UserSubject'),
  Group: pointer(group, 'GroupSubject'),
  ServiceAccount: pointer(serviceAccount, 'ServiceAccountSubject'),
})

const resourceMembers = ({ verbs, apiGroups, resources, clusterScope, namespaces }: R<ResourcePolicyRule>) => ({
  Verbs: goStringList(verbs),
  APIGroups: goStringList(apiGroups),
  Resources: goStringList(resources),
  ClusterScope: String(clusterScope ?? false),
  Namespaces: goStringList(namespaces),
})

const nonResourceMembers = ({ verbs, nonResourceURLs }: R<NonResourcePolicyRule>) => ({
  Verbs: goStringList(verbs),
  NonResourceURLs: goStringList(nonResourceURLs),
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
