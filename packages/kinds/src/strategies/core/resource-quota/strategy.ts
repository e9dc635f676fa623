/** ResourceQuota. */

import type { Work } from '@krmkit/base/work'
import type { DeepReadonly } from '@krmkit/meta'
import { goQuote, goStrings, goText, joinFormatted } from '@krmkit/meta/go-text'
import type { ResourceQuota, ResourceQuotaSpec, ScopedResourceSelectorRequirement } from '../../../types/core-v1.generated.ts'
import type { ContextErrorList, FieldPath } from '../../shared/field-path.ts'
import { goStruct } from '../../shared/go-form.ts'
import { keepMembers, validateMetadata, validateMetadataUpdate } from '../../shared/metadata.ts'
import { isQuotaHugePages, validateQuotaResourceName, validateResourceAmount } from '../../shared/resource-names.ts'
import { roundUp } from '../../shared/round-up.ts'
import { sortedKeys } from '../../shared/sorted-keys.direct.ts'
import { creationRules, defineStrategy, statusSubresource, updateRules } from '../../shared/strategy.ts'
import { isEmpty, isSet, own, type R } from '../../shared/values.ts'

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
const existenceScopes = new Set(['Terminating', 'NotTerminating', 'BestEffort', 'NotBestEffort', 'CrossNamespacePodAffinity'])

/** Whether a quota scope can limit a resource. */
function isScopedResource(scope: string, resource: string): boolean {
  if (!quotaNames.has(resource) && !isQuotaHugePages(resource)) return true
  if (scope === 'BestEffort') return resource === 'pods'
  if (scope === 'VolumeAttributesClass') return resource === 'persistentvolumeclaims' || resource === 'requests.storage'
  return !scopes.includes(scope) || resource === 'pods' || computed.has(resource)
}

function validateScopes(spec: R<ResourceQuotaSpec>, at: FieldPath): void {
  const given = spec.scopes ?? []
  if (given.length === 0) return
  const printed = printScopes(given)
  for (const scope of given) {
    if (!scopes.includes(scope)) at.invalid(printed, 'unsupported scope')
    for (const name of sortedKeys(spec.hard))
      if (!isScopedResource(scope, name)) at.invalid(printed, 'unsupported scope applied to resource')
  }
  for (const pair of opposites) if (pair.every((scope) => given.includes(scope))) at.invalid(printed, 'conflicting scopes')
}

function printScopes(given: readonly string[]) {
  if (given.length === 0) return goText('[]core.ResourceQuotaScope(nil)')
  return goText(`[]core.ResourceQuotaScope{${given.map(goQuote).join(', ')}}`)
}

function printSelector(requirements: readonly R<ScopedResourceSelectorRequirement>[]) {
  const type = 'core.ScopedResourceSelectorRequirement'
  const printed = joinFormatted(requirements, ({ scopeName, operator, values }) =>
    goStruct(type, {
      ScopeName: goQuote(scopeName ?? ''),
      Operator: goQuote(operator ?? ''),
      Values: isEmpty(values) ? '[]string(nil)' : goStrings(values),
    }),
  )
  return goText(goStruct('core.ScopeSelector', { MatchExpressions: printed === '' ? `[]${type}(nil)` : `[]${type}{${printed}}` }))
}

function validateScopeSelector(spec: R<ResourceQuotaSpec>, at: FieldPath): void {
  if (!isSet(spec.scopeSelector)) return
  const requirements = spec.scopeSelector.matchExpressions ?? []
  const here = at.child('matchExpressions')
  for (const requirement of requirements) {
    const scope = requirement.scopeName
    if (!scopes.includes(scope)) here.child('scopeName').invalid(scope, 'unsupported scope')
    for (const name of sortedKeys(spec.hard)) {
      if (!isScopedResource(scope, name)) here.invalid(printSelector(requirements), 'unsupported scope applied to resource')
    }
    validateRequirement(requirement, here)
  }
  const given = new Set<string>(requirements.map((requirement) => requirement.scopeName))
  for (const pair of opposites) {
    if (pair.every((scope) => given.has(scope))) here.invalid(printScopes(spec.scopes ?? []), 'conflicting scopes')
  }
}

function validateRequirement(requirement: R<ScopedResourceSelectorRequirement>, at: FieldPath): void {
  const operator = requirement.operator ?? ''
  const count = requirement.values?.length ?? 0
  if (existenceScopes.has(requirement.scopeName) && operator !== 'Exists') {
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

function validateAmounts(amounts: Readonly<Record<string, string>> | undefined, at: FieldPath): void {
  for (const name of sortedKeys(amounts)) {
    validateQuotaResourceName(name, at.key(name))
    validateResourceAmount(name, own(amounts, name) ?? '0', at.key(name))
  }
}

function validateSpec(spec: R<ResourceQuotaSpec> | undefined, at: FieldPath): void {
  validateAmounts(spec?.hard, at.child('hard'))
  validateScopes(spec ?? {}, at.child('scopes'))
  validateScopeSelector(spec ?? {}, at.child('scopeSelector'))
}

function validateStatus(quota: DeepReadonly<ResourceQuota>, errors: ContextErrorList): void {
  validateAmounts(quota.status?.hard, errors.child('status').child('hard'))
  validateAmounts(quota.status?.used, errors.child('status').child('used'))
}

function* defaultQuota(quota: ResourceQuota): Work {
  yield* roundUp(quota.spec?.hard)
  yield* roundUp(quota.status?.hard)
  yield* roundUp(quota.status?.used)
}

export const resourceQuotaStrategy = defineStrategy<ResourceQuota>({
  keepInMemory: true,
  defaults: defaultQuota,
  prepareForCreate(quota) {
    quota.status = {}
  },
  prepareForUpdate: (quota, old) => keepMembers(quota, old, 'status'),
  validate: creationRules(function* (errors, quota) {
    yield* validateMetadata(quota, errors, { namespaced: true })
    validateSpec(quota.spec, errors.child('spec'))
    validateStatus(quota, errors)
  }),
  validateUpdate: updateRules(function* (errors, quota, old) {
    yield* validateMetadataUpdate(quota, old, errors)
    validateSpec(quota.spec, errors.child('spec'))
    const now = new Set<string>(quota.spec?.scopes ?? [])
    const before = new Set<string>(old.spec?.scopes ?? [])
    if (now.size !== before.size || [...now].some((scope) => !before.has(scope))) {
      errors
        .child('spec')
        .child('scopes')
        .invalid(printScopes(quota.spec?.scopes ?? []), 'field is immutable')
    }
  }),
  deleteResponse: 'Object',
  subresources: {
    status: statusSubresource((quota, errors) => {
      if (isEmpty(quota.metadata.resourceVersion)) errors.child('resourceVersion').required()
      validateStatus(quota, errors)
    }),
  },
  resetFields: { '': [['status']], status: [['spec']] },
})
