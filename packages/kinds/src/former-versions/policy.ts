import type { FormerKind } from './interfaces.ts'
import { isLoose, type Loose, type Step } from './shape.ts'

/**
 * PodDisruptionBudgets: an empty selector selects no pods in `v1beta1` and all pods in `v1`. A requirement with a reserved label
 * expresses the other meaning.
 *
 * @see API protocol specification, 9.4
 */

const label = 'pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match'
/** Selects nothing in `v1`. */
const nothing = { matchExpressions: [{ key: label, operator: 'Exists' }] }
/** Selects everything in `v1beta1`. */
const everything = { matchExpressions: [{ key: label, operator: 'DoesNotExist' }] }

const budget: readonly Step[] = [
  {
    at: 'spec',
    toHub: (spec) =>
      withSelector(spec, (selector) => (isEmpty(selector) ? nothing : isReserved(selector, 'DoesNotExist') ? {} : selector)),
    fromHub: (spec) =>
      withSelector(spec, (selector) => (isEmpty(selector) ? everything : isReserved(selector, 'Exists') ? {} : selector)),
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
function isReserved({ matchLabels, matchExpressions }: Loose, operator: string): boolean {
  if (isLoose(matchLabels) && Object.keys(matchLabels).length > 0) return false
  if (!Array.isArray(matchExpressions) || matchExpressions.length !== 1) return false
  const only: unknown = matchExpressions[0]
  return isLoose(only) && only['key'] === label && only['operator'] === operator
}

export const policy: readonly FormerKind[] = [
  { group: 'policy', kind: 'PodDisruptionBudget', hub: 'v1', versions: { v1beta1: budget } },
  { group: 'policy', kind: 'Eviction', hub: 'v1', versions: { v1beta1: [] } },
]
