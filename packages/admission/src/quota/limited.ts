import type { GroupResource } from '@krmkit/meta'
import { ConfigurationReader } from '../configuration-reader.ts'
import type { AdmissionAttributes } from '../interfaces.ts'
import { type QuotaObject, type ResourceQuota, type ScopeRequirement, scopesOf, type UsageEvaluator } from './interfaces.ts'
import type { Usage } from './usage.ts'

/** Resources that nobody consumes unless some quota covers them. */
export interface LimitedResource extends GroupResource {
  /** A resource name that contains one of these needs a quota that names it. */
  readonly matchContains: readonly string[]
  /** An object that matches one of these needs a quota with such a scope. */
  readonly matchScopes: readonly ScopeRequirement[]
}

/** Reads `ResourceQuotaConfiguration`. @throws AdmissionError `InvalidConfiguration` */
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

/** What no quota covers and some should, as the sentence that refuses it. */
export function uncovered(
  limited: readonly LimitedResource[],
  {
    attributes,
    object,
    evaluator,
    added,
    quotas,
  }: {
    readonly attributes: AdmissionAttributes
    readonly object: QuotaObject
    readonly evaluator: UsageEvaluator
    readonly added: Usage
    readonly quotas: readonly { readonly quota: ResourceQuotaView; readonly hard: ReadonlyMap<string, unknown> }[]
  },
): string | undefined {
  if (limited.length === 0) return undefined
  const here = limited.filter(
    ({ group, resource }) => group === attributes.resource.group && resource === attributes.resource.resource,
  )
  const covered = new Set(quotas.flatMap(({ hard }) => evaluator.matching(hard.keys())))
  const open = [...added]
    .filter(
      ([name, amount]) =>
        amount.sign() > 0 && here.some(({ matchContains }) => matchContains.some((part) => name.includes(part))),
    )
    .map(([name]) => name)
    .filter((name) => !covered.has(name))
  if (open.length > 0) return `insufficient quota to consume: ${open.sort().join(',')}`
  const scopes = limited.flatMap(({ matchScopes }) => matchScopes.filter((scope) => evaluator.matchesScope(scope, object)))
  const known = new Set(quotas.flatMap(({ quota }) => scopesOf(quota)).map(({ scopeName }) => scopeName))
  const missing = scopes.filter(({ scopeName }) => !known.has(scopeName))
  if (missing.length === 0) return undefined
  const texts = missing.map(({ scopeName, operator, values = [] }) => `{${scopeName} ${operator} [${values.join(' ')}]}`)
  return `insufficient quota to match these scopes: [${texts.join(' ')}]`
}

type ResourceQuotaView = Parameters<typeof scopesOf>[0] & Partial<Pick<ResourceQuota, 'kind'>>
