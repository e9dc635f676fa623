import type { Features } from '@krmkit/meta'
import type { Pod } from '../../../types/core-v1.generated.ts'
import type { LabelSelector } from '../../../types/meta-v1.generated.ts'
import { mergesKeys } from '../../shared/affinity.ts'
import { isSet, own } from '../../shared/values.ts'

/**
 * Turns `matchLabelKeys` into requirements of the selectors, with the labels of the pod: those of affinity, and since 1.34 those of spread
 * constraints.
 */
export function applyMatchLabelKeys(pod: Pod, features: Features): void {
  const { podAffinity, podAntiAffinity } = pod.spec?.affinity ?? {}
  for (const affinity of [podAffinity, podAntiAffinity]) {
    const terms = [
      ...(affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []),
      ...(affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map((weighted) => weighted.podAffinityTerm),
    ]
    for (const term of terms) {
      addRequirements(pod, term.labelSelector, { keys: term.matchLabelKeys, operator: 'In' })
      addRequirements(pod, term.labelSelector, { keys: term.mismatchLabelKeys, operator: 'NotIn' })
    }
  }
  if (!mergesKeys(features)) return
  for (const { labelSelector, matchLabelKeys } of pod.spec?.topologySpreadConstraints ?? [])
    addRequirements(pod, labelSelector, { keys: matchLabelKeys, operator: 'In' })
}

interface Keys {
  readonly keys: readonly string[] | null | undefined
  readonly operator: 'In' | 'NotIn'
}

function addRequirements(pod: Pod, selector: LabelSelector | null | undefined, { keys, operator }: Keys): void {
  for (const key of keys ?? []) {
    const value = own(pod.metadata.labels, key)
    if (value === undefined || !isSet(selector)) continue
    selector.matchExpressions = [...(selector.matchExpressions ?? []), { key, operator, values: [value] }]
  }
}
