import type { FormerKind } from './interfaces.ts'
import { type Rewrite, replaced, type Step } from './shape.ts'

/** LeaseCandidates: `v1alpha1` lists the preferred strategies, of which later versions have one. */

const specToHub: Rewrite = (spec, { lose }) => {
  const { preferredStrategies } = spec
  if (!Array.isArray(preferredStrategies)) return spec
  if (preferredStrategies.length > 1) lose('preferredStrategies', 'later versions have one strategy')
  return replaced(spec, 'preferredStrategies', { strategy: preferredStrategies[0] })
}

const specFromHub: Rewrite = (spec) =>
  'strategy' in spec ? replaced(spec, 'strategy', { preferredStrategies: [spec['strategy']] }) : spec

const candidate: readonly Step[] = [{ at: 'spec', toHub: specToHub, fromHub: specFromHub }]

const group = 'coordination.k8s.io'

export const coordination: readonly FormerKind[] = [
  { group, kind: 'Lease', hub: 'v1', versions: { v1beta1: [] } },
  { group, kind: 'LeaseCandidate', hub: 'v1beta1', versions: { v1alpha1: candidate, v1alpha2: [] } },
]
