import type { DeepReadonly } from '@krmkit/meta'
import type { Node, NodeSelectorRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration } from './objects.ts'

/** Decides whether a pod may run on a node: node selector, required node affinity, taints and tolerations. */

/** Whether a node has the labels and the required affinity of a pod. */
export function matchesNode(spec: DeepReadonly<PodSpec>, node: DeepReadonly<Node>): boolean {
  const labels = node.metadata.labels ?? {}
  const hasLabels = Object.entries(spec.nodeSelector ?? {}).every(([key, value]) => labels[key] === value)
  const terms = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms
  return hasLabels && (terms === undefined || terms.some((term) => matchesTerm(term, node)))
}

/** Whether a node meets all requirements of a term. An empty term matches no node. */
export function matchesTerm(term: DeepReadonly<NodeSelectorTerm>, { metadata }: DeepReadonly<Node>): boolean {
  const { matchExpressions = [], matchFields = [] } = term
  if (matchExpressions.length + matchFields.length === 0) return false
  const fields = { 'metadata.name': metadata.name ?? '' }
  return (
    matchExpressions.every((requirement) => meets(requirement, metadata.labels ?? {})) &&
    matchFields.every((requirement) => meets(requirement, fields))
  )
}

function meets(
  { key, operator, values = [] }: DeepReadonly<NodeSelectorRequirement>,
  labels: Readonly<Record<string, string>>,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) > BigInt(values[0])
    case 'Lt':
      return isInteger(value) && isInteger(values[0]) && BigInt(value) < BigInt(values[0])
    default:
      return false
  }
}

function isInteger(text: string | undefined): text is string {
  return text !== undefined && /^-?\d{1,19}$/.test(text)
}

/** Whether a toleration covers a taint. An empty key with `Exists` covers all. */
export function tolerates(
  { key = '', operator = 'Equal', value = '', effect = '' }: DeepReadonly<Toleration>,
  taint: DeepReadonly<Taint>,
): boolean {
  if (effect !== '' && effect !== taint.effect) return false
  if (key !== '' && key !== taint.key) return false
  return operator === 'Exists' || (key !== '' && value === (taint.value ?? ''))
}

/** Returns the first taint with one of these effects that no toleration covers. */
export function untoleratedTaint(
  taints: readonly DeepReadonly<Taint>[] | undefined,
  tolerations: readonly DeepReadonly<Toleration>[] | undefined,
  effects: readonly string[],
): DeepReadonly<Taint> | undefined {
  return taints?.find(
    (taint) => effects.includes(taint.effect) && !tolerations?.some((toleration) => tolerates(toleration, taint)),
  )
}
