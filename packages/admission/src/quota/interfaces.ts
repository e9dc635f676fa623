import type { ApiObject, DeepReadonly, GroupResource, Quantity } from '@krmkit/meta'
import type { Usage } from './usage.ts'

/** A quota as it is stored. */
export interface ResourceQuota extends ApiObject {
  spec?: {
    hard?: Record<string, string>
    scopes?: string[]
    scopeSelector?: { matchExpressions?: ScopeRequirement[] }
  }
  status?: { hard?: Record<string, string>; used?: Record<string, string> }
}

/** Which objects a quota looks at; a plain scope is one that `Exists`. */
export interface ScopeRequirement {
  scopeName: string
  operator: string
  values?: string[]
}

export type QuotaObject = DeepReadonly<ApiObject>

/** What the objects of one resource cost. */
export interface UsageEvaluator {
  readonly resource: GroupResource
  /** Whether a change of an object can change what it costs. */
  readonly countsUpdates: boolean
  usage(object: QuotaObject): Usage
  /** Those of the resource names that objects of this resource cost. */
  matching(names: Iterable<string>): string[]
  matchesScope(requirement: DeepReadonly<ScopeRequirement>, object: QuotaObject): boolean
  /** What an object has to say when a quota names these resources, as the sentence that it did not; undefined when it did. */
  unmet?(required: readonly string[], object: QuotaObject): string | undefined
}

export function scopesOf({ spec }: DeepReadonly<ResourceQuota>): readonly DeepReadonly<ScopeRequirement>[] {
  return [
    ...(spec?.scopes ?? []).map((scopeName) => ({ scopeName, operator: 'Exists' })),
    ...(spec?.scopeSelector?.matchExpressions ?? []),
  ]
}

/** Whether a quota counts an object. */
export function counts(
  evaluator: UsageEvaluator,
  { quota, hard }: { readonly quota: DeepReadonly<ResourceQuota>; readonly hard: ReadonlyMap<string, Quantity> },
  object: QuotaObject,
): boolean {
  return (
    evaluator.matching(hard.keys()).length > 0 &&
    scopesOf(quota).every((requirement) => evaluator.matchesScope(requirement, object))
  )
}
