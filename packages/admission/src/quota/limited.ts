import type { GroupResource } from '@krmkit/meta'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes } from '../interfaces.ts'
import {
  type QuotaObject,
  type ResourceQuota,
  type ScopeRequirement,
  scopeRequirementsOf,
  type UsageEvaluator,
} from './interfaces.ts'
import type { Usage } from './usage.ts'

/** A resource that may only be consumed in namespaces with a covering quota. */
export interface LimitedResource extends GroupResource {
  /** Resource names that contain one of these need a quota that limits them. */
  readonly matchContains: readonly string[]
  /** Objects that match one of these need a quota with the same scope. */
  readonly matchScopes: readonly ScopeRequirement[]
}

/**
 * Parses a `ResourceQuotaConfiguration`; undefined limits nothing.
 *
 * @throws AdmissionError `InvalidConfiguration`
 * @example
 * ```ts
 * import { parseLimitedResources, resourceQuota } from '@krmkit/admission/plugins'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const type = { apiVersion: 'apiserver.config.k8s.io/v1', kind: 'ResourceQuotaConfiguration' }
 * const limitedResources = [{ resource: 'pods', matchContains: ['cpu'] }]
 * const limited = parseLimitedResources({ ...type, limitedResources }, 'k8s.io')
 * const plugin = resourceQuota({ profile: stockProfile, clock: systemClock, limited })
 * ```
 */
export function parseLimitedResources(value: unknown, apiDomain: string): readonly LimitedResource[] {
  if (value === undefined) return []
  const reader = new ConfigurationReader('ResourceQuota', value)
  const versions = [
    `apiserver.config.${apiDomain}/v1`,
    `resourcequota.admission.${apiDomain}/v1`,
    `resourcequota.admission.${apiDomain}/v1beta1`,
    `resourcequota.admission.${apiDomain}/v1alpha1`,
  ]
  const kind = reader.text('kind') === 'Configuration' ? 'Configuration' : 'ResourceQuotaConfiguration'
  reader.expectKind(versions, kind)
  return reader.objects('limitedResources').map((each) => {
    const resource = each.text('resource') ?? ''
    if (resource === '') throw each.error('resource', 'must be set')
    return {
      group: each.text('apiGroup') ?? '',
      resource,
      matchContains: each.texts('matchContains'),
      matchScopes: each.objects('matchScopes').map((scope) => ({
        scopeName: scope.text('scopeName') ?? '',
        operator: scope.text('operator') ?? 'Exists',
        values: [...scope.texts('values')],
      })),
    }
  })
}

/** The message when a limited resource or scope is not covered by a quota; undefined when all are. */
export function uncoveredMessage(
  limited: readonly LimitedResource[],
  {
    attributes,
    object,
    evaluator,
    usage,
    quotas,
  }: {
    readonly attributes: AdmissionAttributes
    readonly object: QuotaObject
    readonly evaluator: UsageEvaluator
    /** That of the object, also where an update adds only a part of it. */
    readonly usage: Usage
    readonly quotas: readonly { readonly quota: ResourceQuotaView; readonly hard: ReadonlyMap<string, unknown> }[]
  },
): string | undefined {
  if (limited.length === 0) return undefined
  const matching = limited.filter(
    ({ group, resource }) => group === attributes.resource.group && resource === attributes.resource.resource,
  )
  const covered = new Set(quotas.flatMap(({ hard }) => evaluator.matchingResources(hard.keys())))
  const uncovered = [...usage]
    .filter(
      ([name, amount]) =>
        amount.sign() > 0 && matching.some(({ matchContains }) => matchContains.some((part) => name.includes(part))),
    )
    .map(([name]) => name)
    .filter((name) => !covered.has(name))
  if (uncovered.length > 0) return `insufficient quota to consume: ${uncovered.sort().join(',')}`
  const scopes = limited.flatMap(({ matchScopes }) => matchScopes.filter((scope) => evaluator.matchesScope(scope, object)))
  const known = new Set(quotas.flatMap(({ quota }) => scopeRequirementsOf(quota)).map(({ scopeName }) => scopeName))
  const missing = scopes.filter(({ scopeName }) => !known.has(scopeName))
  if (missing.length === 0) return undefined
  const texts = missing.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`)
  return `insufficient quota to match these scopes: [${texts.join(' ')}]`
}

type ResourceQuotaView = Parameters<typeof scopeRequirementsOf>[0] & Partial<Pick<ResourceQuota, 'kind'>>
