/** Resource quotas. */
import { type DeepReadonly, goQuote, goText } from '@krmkit/meta'
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../../types/core-v1.generated.ts'
import type { FieldPath, Report } from '../shared/field-path.ts'
import { checkMetadata, checkMetadataUpdate, keepMembers } from '../shared/metadata.ts'
import { roundUp } from '../shared/pod-defaults.ts'
import { checkQuotaResourceName, checkResourceAmount } from '../shared/resource-names.ts'
import { defineStrategy, findings } from '../shared/strategy.ts'
import { isEmpty, isSet, own, type R, sortedKeys } from '../shared/values.ts'

const scopes = [
  'Terminating',
  'NotTerminating',
  'BestEffort',
  'NotBestEffort',
  'PriorityClass',
  'CrossNamespacePodAffinity',
  'VolumeAttributesClass',
]
const computed = new Set(['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'])
const quotaNames = new Set([
  ...computed,
  'ephemeral-storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
  'requests.storage',
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
])
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const
const existOnly = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'])

/** Whether objects of a scope use a resource at all. */
function fits(scope: string, resource: string): boolean {
  if (!quotaNames.has(resource)) return true
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
  return !scopes.includes(scope) || resource === 'pods' || computed.has(resource)
}

function checkScopes(spec: R<ResourceQuotaSpec>, at: FieldPath): void {
  const given = spec.scopes ?? []
  if (given.length === 0) return
  const printed = printScopes(given)
  for (const scope of given) {
    if (!scopes.includes(scope)) at.invalid(printed, 'unsupported scope')
    for (const name of sortedKeys(spec.hard)) if (!fits(scope, name)) at.invalid(printed, 'unsupported scope applied to resource')
  }
  for (const pair of opposites) if (pair.every((scope) => given.includes(scope))) at.invalid(printed, 'conflicting scopes')
}

function printScopes(given: readonly string[]) {
  return goText(`[]core.ResourceQuotaScope{${given.map(goQuote).join(', ')}}`)
}

function checkScopeSelector(spec: R<ResourceQuotaSpec>, at: FieldPath): void {
  if (!isSet(spec.scopeSelector)) return
  const requirements = spec.scopeSelector.matchExpressions ?? []
  const here = at.child('matchExpressions')
  for (const requirement of requirements) {
    const scope = requirement.scopeName
    if (!scopes.includes(scope)) here.child('scopeName').invalid(scope, 'unsupported scope')
    for (const name of sortedKeys(spec.hard)) {
      if (!fits(scope, name)) here.invalid(goText('&core.ScopeSelector{}'), 'unsupported scope applied to resource')
    }
    checkRequirement(requirement, here)
  }
  const given = new Set<string>(requirements.map((requirement) => requirement.scopeName))
  for (const pair of opposites) {
    if (pair.every((scope) => given.has(scope))) here.invalid(printScopes(spec.scopes ?? []), 'conflicting scopes')
  }
}

function checkRequirement(requirement: R<ScopedResourceSelectorRequirement>, at: FieldPath): void {
  const operator = requirement.operator ?? ''
  const count = requirement.values?.length ?? 0
  if (existOnly.has(requirement.scopeName) && operator !== 'Exists') {
    const names = 'ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, '
    const rest = 'ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity'
    at.child('operator').invalid(operator, `must be 'Exists' when scope is any of ${names}${rest}`)
  }
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0)
      at.child('values').required("must be at least one value when `operator` is 'In' or 'NotIn' for scope selector")
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) {
      const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
      at.child('values').invalid(goText(`[]string{${requirement.values?.map(goQuote).join(', ')}}`), detail)
    }
  } else at.child('operator').invalid(operator, 'not a valid selector operator')
}

function checkAmounts(amounts: Readonly<Record<string, string>> | undefined, at: FieldPath): void {
  for (const name of sortedKeys(amounts)) {
    checkQuotaResourceName(name, at.key(name))
    checkResourceAmount(name, own(amounts, name) ?? '0', at.key(name))
  }
}

function checkSpec(spec: R<ResourceQuotaSpec> | undefined, at: FieldPath): void {
  checkAmounts(spec?.hard, at.child('hard'))
  checkScopes(spec ?? {}, at.child('scopes'))
  checkScopeSelector(spec ?? {}, at.child('scopeSelector'))
}

function checkStatus(quota: DeepReadonly<ResourceQuota>, report: Report): void {
  checkAmounts(quota.status?.hard, report.at('status').child('hard'))
  checkAmounts(quota.status?.used, report.at('status').child('used'))
}

export const resourceQuotaStrategy = defineStrategy<ResourceQuota>({
  keepInMemory: true,
  defaults(quota) {
    roundUp(quota.spec?.hard)
    roundUp(quota.status?.hard)
    roundUp(quota.status?.used)
  },
  prepareForCreate(quota) {
    quota.status = {}
  },
  prepareForUpdate(quota, old) {
    keepMembers(quota, old, 'status')
  },
  validate(quota, context) {
    return findings(context, (report) => {
      checkMetadata(quota, report, { namespaced: true })
      checkSpec(quota.spec, report.at('spec'))
      checkStatus(quota, report)
    })
  },
  validateUpdate(quota, old, context) {
    return findings(context, (report) => {
      checkMetadataUpdate(quota, old, report)
      checkSpec(quota.spec, report.at('spec'))
      const now = new Set<string>(quota.spec?.scopes ?? [])
      const before = new Set<string>(old.spec?.scopes ?? [])
      if (now.size !== before.size || [...now].some((scope) => !before.has(scope))) {
        report
          .at('spec')
          .child('scopes')
          .invalid(printScopes(quota.spec?.scopes ?? []), 'field is immutable')
      }
    })
  },
  deleteAnswer: 'Object',
  subresources: {
    status: {
      prepareForUpdate(quota, old) {
        keepMembers(quota, old, 'spec')
      },
      validateUpdate(quota, old, context) {
        return findings(context, (report) => {
          checkMetadataUpdate(quota, old, report)
          if (isEmpty(quota.metadata.resourceVersion)) report.at('resourceVersion').required()
          checkStatus(quota, report)
        })
      },
    },
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
