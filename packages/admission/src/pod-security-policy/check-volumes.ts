import { type DeepReadonly, type FieldError, field, Path } from '@krmkit/meta'
import { trimRight } from '@krmkit/meta/go-text'
import { containerKinds, type Pod } from '../pod.ts'
import type { PolicySpec } from './policy.ts'

/** The errors of volumes whose type, host path or driver a policy does not allow. */
export function checkVolumes(pod: DeepReadonly<Pod>, spec: DeepReadonly<PolicySpec>): FieldError[] {
  const allowed = spec.volumes ?? []
  return (pod.spec.volumes ?? []).flatMap((volume, i) => {
    const at = Path.of('spec').child('volumes').index(i)
    const type = Object.keys(volume).find((member) => member !== 'name' && volume[member] !== undefined) ?? 'emptyDir'
    if (!allowed.includes('*') && !allowed.includes(type))
      return [field.invalid(at, type, `${type} volumes are not allowed to be used`)]
    const source = (volume[type] ?? {}) as { readonly path?: string; readonly driver?: string }
    if (type === 'hostPath') return hostPathErrors(pod, { name: volume.name, path: source.path ?? '', at, spec })
    const { driver = '' } = source
    if (type === 'flexVolume' && isLimited(spec.allowedFlexVolumes, (each) => each.driver === driver))
      return [field.invalid(at.child('driver'), driver, 'Flexvolume driver is not allowed to be used')]
    if (type === 'csi' && isLimited(spec.allowedCSIDrivers, (each) => each.name === driver))
      return [field.invalid(at.child('csi').child('driver'), driver, 'Inline CSI driver is not allowed to be used')]
    return []
  })
}

/** Whether there are allowed drivers, and none that matches. */
function isLimited<T>(allowed: readonly T[] | undefined, matches: (each: T) => boolean): boolean {
  return allowed !== undefined && allowed.length > 0 && !allowed.some(matches)
}

interface HostPath {
  readonly name: string
  readonly path: string
  readonly at: Path
  readonly spec: DeepReadonly<PolicySpec>
}

function hostPathErrors(pod: DeepReadonly<Pod>, { name, path, at, spec }: HostPath): FieldError[] {
  const prefixes = spec.allowedHostPaths ?? []
  if (prefixes.length === 0) return []
  const matching = prefixes.filter(({ pathPrefix = '' }) => isBelow(path, pathPrefix))
  if (matching.length === 0) return [field.invalid(at.child('hostPath').child('pathPrefix'), path, 'is not allowed to be used')]
  if (matching.some(({ readOnly }) => readOnly !== true)) return []
  return containerKinds.flatMap((kind) =>
    (pod.spec[kind] ?? []).flatMap(({ volumeMounts = [] }, i) =>
      volumeMounts.flatMap((mount, j) => {
        const place = Path.of('spec').child(kind).index(i).child('volumeMounts').index(j).child('readOnly')
        return mount.name === name && mount.readOnly !== true ? [field.invalid(place, false, 'must be read-only')] : []
      }),
    ),
  )
}

/** Compares whole segments: `/var` has `/var/log` below it, but not `/variant`. */
function isBelow(path: string, prefix: string): boolean {
  const bare = trimRight(prefix, '/')
  return path === prefix || path === bare || path.startsWith(`${bare}/`)
}
