import { type DeepReadonly, type Features, Quantity } from '@krmkit/meta'
import type { Container, Pod, ResourceAmounts } from './pod.ts'

/** Features that a node must declare before a pod on it may change. */

type Spec = DeepReadonly<Pod['spec']>
type Resources = DeepReadonly<NonNullable<Container['resources']>> | null | undefined

interface NodeFeature {
  readonly name: string
  readonly since: string
  /** First release that no longer asks for the feature. */
  readonly removed?: string
  /** Whether a change of a pod needs the feature. */
  needs(pod: DeepReadonly<Pod>, old: DeepReadonly<Pod>): boolean
}

/** Sorted by name, the order of errors. */
const nodeFeatures: readonly NodeFeature[] = [
  {
    name: 'GuaranteedQoSPodCPUResize',
    since: '1.35',
    removed: '1.36',
    needs: (pod, old) => (old.status?.qosClass ?? '') === 'Guaranteed' && changesCpu(pod.spec, old.spec),
  },
  {
    name: 'InPlacePodLevelResourcesVerticalScaling',
    since: '1.35',
    needs: ({ spec }, old) =>
      isSet(spec.resources) !== isSet(old.spec.resources) || !sameResources(spec.resources, old.spec.resources),
  },
  {
    name: 'InPlacePodVerticalScalingInitContainers',
    since: '1.36',
    needs: ({ spec }, old) =>
      (old.spec.initContainers ?? []).some(
        ({ restartPolicy, resources }, i) =>
          restartPolicy !== 'Always' && !sameResources(resources, spec.initContainers?.[i]?.resources),
      ),
  },
  {
    name: 'InPlacePodVerticalScalingMemoryBackedVolumes',
    since: '1.37',
    needs: ({ spec }, old) => changesMemoryVolume(spec, old.spec),
  },
]

/** The features that an update of a pod needs, sorted by name. */
export function requiredFeatures(
  pod: DeepReadonly<Pod>,
  old: DeepReadonly<Pod>,
  release: Features['release'],
): readonly string[] {
  const inRelease = ({ since, removed }: NodeFeature) =>
    release.atLeast(since) && (removed === undefined || !release.atLeast(removed))
  return nodeFeatures.filter((each) => inRelease(each) && each.needs(pod, old)).map(({ name }) => name)
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null
}

function sameResources(a: Resources, b: Resources): boolean {
  return sameAmounts(a?.requests, b?.requests) && sameAmounts(a?.limits, b?.limits)
}

function sameAmounts(a: Readonly<ResourceAmounts> = {}, b: Readonly<ResourceAmounts> = {}): boolean {
  const names = Object.keys(a)
  if (names.length !== Object.keys(b).length) return false
  return names.every((name) => Object.hasOwn(b, name) && sameAmount(a[name], b[name]))
}

function sameAmount(a = '0', b = '0'): boolean {
  return a === b || Quantity.parse(String(a)).equals(Quantity.parse(String(b)))
}

function changesCpu(spec: Spec, old: Spec): boolean {
  return (old.containers ?? []).some(
    ({ resources }, i) => !sameAmount(resources?.requests?.['cpu'], spec.containers?.[i]?.resources?.requests?.['cpu']),
  )
}

interface MemoryVolume {
  readonly name: string
  readonly emptyDir?: { readonly medium?: string; readonly sizeLimit?: string }
}

/** Whether a volume in memory has another size limit. Volumes are not added or removed. */
function changesMemoryVolume(spec: Spec, old: Spec): boolean {
  const [now, before] = [spec.volumes ?? [], old.volumes ?? []] as unknown as readonly (readonly MemoryVolume[])[]
  if (now?.length !== before?.length) return false
  return (now ?? []).some(({ name, emptyDir }, i) => {
    const old = before?.[i]
    if (old?.name !== name || emptyDir?.medium !== 'Memory') return false
    const [size, oldSize] = [emptyDir.sizeLimit, old.emptyDir?.sizeLimit]
    return size !== undefined && oldSize !== undefined && !sameAmount(size, oldSize)
  })
}
