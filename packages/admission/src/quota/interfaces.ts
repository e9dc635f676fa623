import type { ApiObject, DeepReadonly, GroupResource, Quantity } from '@krmkit/meta'
import type { Usage } from './usage.ts'

/** The ResourceQuota type. */
export interface ResourceQuota extends ApiObject {
  spec?: {
    hard?: Record<string, string>
    scopes?: string[]
    scopeSelector?: { matchExpressions?: ScopeRequirement[] }
  }
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

/** One scope requirement of a quota; an entry of `spec.scopes` has the operator `Exists`. */
export interface ScopeRequirement {
  scopeName: string
  operator: string
  values?: string[]
}

export type QuotaObject = DeepReadonly<ApiObject>

/** Computes the quota usage of the objects of one resource. */
export interface UsageEvaluator {
  readonly resource: GroupResource
  /** Whether updates can change the usage of an object. */
  readonly countsUpdates: boolean
  usage(object: QuotaObject): Usage
  /** The names that objects of this resource contribute to. */
  matchingResources(names: Iterable<string>): string[]
  matchesScope(requirement: DeepReadonly<ScopeRequirement>, object: QuotaObject): boolean
  /** The message when the object lacks members that a quota of these resources requires; undefined when it has them. */
  unmetConstraint?(required: readonly string[], object: QuotaObject): string | undefined
}

/** The scopes and the scope selector of a quota as one list. */
export function scopeRequirementsOf({ spec }: DeepReadonly<ResourceQuota>): readonly DeepReadonly<ScopeRequirement>[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

/**
 * Whether a quota counts an object: it limits one of its resources, and all its scopes match.
 *
 * @example
 * ```ts
 * import { createUsageEvaluators, matchesQuota, parseUsage } from '@krmkit/admission/quota'
 * import { stockProfile, systemClock } from '@krmkit/meta'
 *
 * const evaluator = createUsageEvaluators({ profile: stockProfile, clock: systemClock })({ group: '', resource: 'pods' })
 * const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [] } }
 * const spec = { hard: { pods: '10' }, scopes: ['Terminating'] }
 * const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'jobs', namespace: 'shop' }, spec }
 * matchesQuota(evaluator, { quota, hard: parseUsage(spec.hard) }, pod) // false
 * ```
 */
export function matchesQuota(
  evaluator: UsageEvaluator,
  { quota, hard }: { readonly quota: DeepReadonly<ResourceQuota>; readonly hard: ReadonlyMap<string, Quantity> },
  object: QuotaObject,
): boolean {
  return (
    evaluator.matchingResources(hard.keys()).length > 0 &&
    scopeRequirementsOf(quota).every((requirement) => evaluator.matchesScope(requirement, object))
  )
}
