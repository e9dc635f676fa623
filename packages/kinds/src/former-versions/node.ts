import type { FormerKind } from './interfaces.ts'
import { isLoose, type Loose, renamed, replaced, type Step } from './shape.ts'

/** RuntimeClasses: `v1alpha1` has a `spec`. */
const runtimeClass: readonly Step[] = [
  {
    at: '',
    toHub: (object) =>
      isLoose(object['spec']) ? replaced(object, 'spec', renamed(object['spec'], { runtimeHandler: 'handler' })) : object,
    fromHub: (object): Loose => {
      const names = ['handler', 'overhead', 'scheduling'] as const
      const members = Object.entries(object).filter(([name]) => (names as readonly string[]).includes(name))
      const rest = Object.entries(object).filter(([name]) => !(names as readonly string[]).includes(name))
      return Object.fromEntries([...rest, ['spec', renamed(Object.fromEntries(members), { handler: 'runtimeHandler' })]])
    },
  },
]

export const node: readonly FormerKind[] = [
  { group: 'node.k8s.io', kind: 'RuntimeClass', hub: 'v1', versions: { v1alpha1: runtimeClass, v1beta1: [] } },
]
