import type { DeepReadonly } from '@krmkit/meta'
import type { Pod, Volume } from '../pod.ts'
import type { NodeRequest } from './node-request.ts'

interface CsiDriver {
  readonly spec?: { readonly tokenRequests?: readonly { readonly audience?: string }[] }
}

type Reading = Pick<NodeRequest, 'reader' | 'profile' | 'attributes'>

/** Whether a volume of the pod wants tokens for an audience: itself, or its driver. */
export function mentionsAudience(pod: DeepReadonly<Pod>, audience: string, reading: Reading): boolean {
  return (pod.spec.volumes ?? []).some((volume) => {
    const sources = volume.projected?.sources ?? []
    if (
      sources.some(({ serviceAccountToken }) => serviceAccountToken !== undefined && audienceOf(serviceAccountToken) === audience)
    )
      return true
    const driver = driverOf(volume, pod, reading)
    return driver !== undefined && driverWants(driver, audience, reading)
  })
}

function audienceOf(source: object): string {
  return (source as { audience?: string }).audience ?? ''
}

function driverOf(volume: DeepReadonly<Volume>, pod: DeepReadonly<Pod>, { reader, attributes }: Reading): string | undefined {
  const inline = (volume['csi'] as { driver?: string } | undefined)?.driver
  if (inline !== undefined) return inline
  const named = (volume['persistentVolumeClaim'] as { claimName?: string } | undefined)?.claimName
  const claimName = named ?? (volume['ephemeral'] === undefined ? undefined : `${pod.metadata.name ?? ''}-${volume.name}`)
  if (claimName === undefined) return undefined
  const claim = reader.get({ group: '', resource: 'persistentvolumeclaims' }, attributes.namespace, claimName)
  const volumeName = (claim as { spec?: { volumeName?: string } } | undefined)?.spec?.volumeName
  if (volumeName === undefined) return undefined
  const bound = reader.get({ group: '', resource: 'persistentvolumes' }, '', volumeName)
  return (bound as { spec?: { csi?: { driver?: string } } } | undefined)?.spec?.csi?.driver
}

function driverWants(driver: string, audience: string, { reader, profile }: Reading): boolean {
  const found = reader.get({ group: `storage.${profile.apiDomain}`, resource: 'csidrivers' }, '', driver) as CsiDriver | undefined
  return (found?.spec?.tokenRequests ?? []).some((request) => (request.audience ?? '') === audience)
}
