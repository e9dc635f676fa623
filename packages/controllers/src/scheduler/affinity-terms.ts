import type { DeepReadonly } from '@krmkit/meta'
import { type LabelSelector, labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { PodAffinity, PodAffinityTerm, ReadonlyPod } from './objects.ts'

/** A term of pod affinity or anti-affinity with its selectors parsed. */
export interface AffinityTerm {
  readonly topologyKey: string
  readonly selector: LabelSelector
  readonly namespaces: ReadonlySet<string>
  /** Absent: only `namespaces` apply. */
  readonly namespaceSelector: LabelSelector | undefined
}

export interface WeightedTerm extends AffinityTerm {
  readonly weight: number
}

export interface AffinityTerms {
  readonly required: readonly AffinityTerm[]
  readonly requiredAnti: readonly AffinityTerm[]
  readonly preferred: readonly WeightedTerm[]
  readonly preferredAnti: readonly WeightedTerm[]
  readonly hasAny: boolean
}

const noTerms: AffinityTerms = { required: [], requiredAnti: [], preferred: [], preferredAnti: [], hasAny: false }

export function affinityTerms({ metadata, spec }: ReadonlyPod): AffinityTerms {
  const { podAffinity, podAntiAffinity } = spec?.affinity ?? {}
  if (podAffinity === undefined && podAntiAffinity === undefined) return noTerms
  const namespace = metadata.namespace ?? ''
  const required = requiredTerms(podAffinity, namespace)
  const requiredAnti = requiredTerms(podAntiAffinity, namespace)
  const preferred = preferredTerms(podAffinity, namespace)
  const preferredAnti = preferredTerms(podAntiAffinity, namespace)
  const hasAny = required.length + requiredAnti.length + preferred.length + preferredAnti.length > 0
  return { required, requiredAnti, preferred, preferredAnti, hasAny }
}

/** Whether a term of one pod applies to another pod. */
export function termMatches(
  term: AffinityTerm,
  pod: { readonly namespace: string; readonly labels: Readonly<Record<string, string>> },
  namespaceLabels: (namespace: string) => Readonly<Record<string, string>>,
): boolean {
  const inNamespace =
    term.namespaces.has(pod.namespace) || term.namespaceSelector?.matches(namespaceLabels(pod.namespace)) === true
  return inNamespace && term.selector.matches(pod.labels)
}

function requiredTerms(affinity: DeepReadonly<PodAffinity> | undefined, namespace: string): AffinityTerm[] {
  return (affinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map((term) => parseTerm(term, namespace))
}

function preferredTerms(affinity: DeepReadonly<PodAffinity> | undefined, namespace: string): WeightedTerm[] {
  return (affinity?.preferredDuringSchedulingIgnoredDuringExecution ?? []).map(({ weight, podAffinityTerm }) => ({
    ...parseTerm(podAffinityTerm, namespace),
    weight,
  }))
}

/** A term without namespaces and namespace selector applies to the namespace of its pod. */
function parseTerm(term: DeepReadonly<PodAffinityTerm>, own: string): AffinityTerm {
  const { topologyKey, labelSelector, namespaces = [], namespaceSelector } = term
  const isOwn = namespaces.length === 0 && namespaceSelector == null
  return {
    topologyKey,
    selector: labelSelectorFromObject(labelSelector),
    namespaces: new Set(isOwn ? [own] : namespaces),
    namespaceSelector: namespaceSelector == null ? undefined : labelSelectorFromObject(namespaceSelector),
  }
}
