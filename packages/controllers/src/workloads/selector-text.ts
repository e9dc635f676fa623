import type { DeepReadonly } from '@krmkit/meta'
import type { LabelSelectorObject } from '@krmkit/meta/selectors'

/** Returns a label selector as Go prints it in events: `&LabelSelector{MatchLabels:map[string]string{app: web,},...}`, or `nil`. */
export function goSelectorText(selector: DeepReadonly<LabelSelectorObject> | null | undefined): string {
  if (selector == null) return 'nil'
  const labels = Object.entries(selector.matchLabels ?? {}).sort(([a], [b]) => (a < b ? -1 : 1))
  const requirements = (selector.matchExpressions ?? []).map(({ key, operator, values }) => {
    return `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${(values ?? []).join(' ')}],},`
  })
  const labelText = labels.map(([key, value]) => `${key}: ${value},`).join('')
  return `&LabelSelector{MatchLabels:map[string]string{${labelText}},MatchExpressions:[]LabelSelectorRequirement{${requirements.join('')}},}`
}
