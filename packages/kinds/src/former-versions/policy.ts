import type { NamingProfile } from '@krmkit/meta'
import type { FormerKind } from './interfaces.ts'
import { isLoose, type Loose, type Step } from './shape.ts'

/**
 * PodDisruptionBudgets: an empty selector selects no pods in `v1beta1` and all pods in `v1`. A requirement with a reserved label
 * expresses the other meaning.
 *
 * @see API protocol specification, 9.4
 */

const labelOf = ({ domain }: NamingProfile): string => `pdb.${domain}/deprecated-v1beta1-empty-selector-match`
/** Selects nothing in `v1` with `Exists`, and everything in `v1beta1` with `DoesNotExist`. */
const reserved = (profile: NamingProfile, operator: 'Exists' | 'DoesNotExist'): Loose => ({
  matchExpressions: [{ key: labelOf(profile), operator }],
})

const budget: readonly Step[] = [
  {
    at: 'spec',
    toHub: (spec, { profile }) =>
      withSelector(spec, (selector) => {
        if (isEmpty(selector)) return reserved(profile, 'Exists')
        return isReserved(selector, labelOf(profile), 'DoesNotExist') ? {} : selector
      }),
    fromHub: (spec, { profile }) =>
      withSelector(spec, (selector) => {
        if (isEmpty(selector)) return reserved(profile, 'DoesNotExist')
        return isReserved(selector, labelOf(profile), 'Exists') ? {} : selector
      }),
  },
]

function withSelector(spec: Loose, change: (selector: Loose) => Loose): Loose {
  const { selector } = spec
  return isLoose(selector) ? { ...spec, selector: change(selector) } : spec
}

function isEmpty({ matchLabels, matchExpressions }: Loose): boolean {
  const labels = isLoose(matchLabels) ? Object.keys(matchLabels).length : 0
  return labels === 0 && (!Array.isArray(matchExpressions) || matchExpressions.length === 0)
}

/** Whether the selector is exactly the requirement with the reserved label. */
function isReserved({ matchLabels, matchExpressions }: Loose, label: string, operator: string): boolean {
  if (isLoose(matchLabels) && Object.keys(matchLabels).length > 0) return false
  if (!Array.isArray(matchExpressions) || matchExpressions.length !== 1) return false
  const only: unknown = matchExpressions[0]
  return isLoose(only) && only['key'] === label && only['operator'] === operator
}

export const policy: readonly FormerKind[] = [
  { group: 'policy', kind: 'PodDisruptionBudget', hub: 'v1', versions: { v1beta1: budget } },
  { group: 'policy', kind: 'Eviction', hub: 'v1', versions: { v1beta1: [] } },
]
