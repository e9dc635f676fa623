import type { NamingProfile } from '@krmkit/meta'
import type { FormerKind } from './interfaces.ts'
import { annotationOf, isLoose, isUnset, type Loose, renamed, type Step, withAnnotation } from './shape.ts'

/**
 * Priority levels: the shares were renamed with `v1beta3`, and zero means the default of 30 before `v1`. An annotation keeps a zero
 * of `v1` in `v1beta3`.
 */

const defaultShares = 30
const preserveZero = ({ apiDomain }: NamingProfile): string => `flowcontrol.${apiDomain}/v1beta3-preserve-zero-concurrency-shares`

function withLimited(object: Loose, change: (limited: Loose) => Loose): Loose {
  const { spec } = object
  if (!isLoose(spec) || !isLoose(spec['limited'])) return object
  return { ...object, spec: { ...spec, limited: change(spec['limited']) } }
}

function level(shares: 'assuredConcurrencyShares' | 'nominalConcurrencyShares'): readonly Step[] {
  const keepsZero = shares === 'nominalConcurrencyShares'
  return [
    {
      at: '',
      isDefaulting: true,
      toHub: (object, { profile }) => {
        if (keepsZero && annotationOf(object, preserveZero(profile)) !== undefined) return object
        return withLimited(object, (limited) => {
          return isUnset(limited[shares]) || limited[shares] === 0 ? { ...limited, [shares]: defaultShares } : limited
        })
      },
    },
    {
      at: '',
      toHub: (object, { profile }) => {
        const changed = withLimited(object, (limited) => renamed(limited, { [shares]: 'nominalConcurrencyShares' }))
        return keepsZero ? withAnnotation(changed, preserveZero(profile), undefined) : changed
      },
      fromHub: (object, { lose, profile }) => {
        let isZero = false
        const changed = withLimited(object, (limited) => {
          isZero = limited['nominalConcurrencyShares'] === 0
          return renamed(limited, { nominalConcurrencyShares: shares })
        })
        if (!isZero) return changed
        if (keepsZero) return withAnnotation(changed, preserveZero(profile), '')
        lose('spec.limited.nominalConcurrencyShares', `zero means the default of ${defaultShares} in this version`)
        return changed
      },
    },
  ]
}

const group = 'flowcontrol.apiserver.k8s.io'
const assured = level('assuredConcurrencyShares')

export const flowcontrol: readonly FormerKind[] = [
  { group, kind: 'FlowSchema', hub: 'v1', versions: { v1alpha1: [], v1beta1: [], v1beta2: [], v1beta3: [] } },
  {
    group,
    kind: 'PriorityLevelConfiguration',
    hub: 'v1',
    versions: { v1alpha1: assured, v1beta1: assured, v1beta2: assured, v1beta3: level('nominalConcurrencyShares') },
  },
]
