import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { Pod, Volume } from '../pod.ts'
import type { NodeRequest } from './node-request.ts'

/** Which audiences the volumes of a pod want tokens for. */

type Reading = Pick<NodeRequest, 'reader' | 'profile' | 'attributes'>

interface CsiDriver extends ApiObject {
  spec?: { tokenRequests?: { audience?: string }[] }
}

interface Claim extends ApiObject {
  spec?: { volumeName?: string }
}

interface PersistentVolume extends ApiObject {
  spec?: Record<string, unknown>
}

/** The drivers that have taken over from what was once built in, by the member of a volume. */
const successors: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
}

/** What could not be read. */
class Unreadable extends Error {}

/**
 * Whether a volume of the pod wants tokens for an audience: itself, or its driver.
 *
 * @returns the answer, or what kept from finding it.
 */
export function mentionsAudience(
  pod: DeepReadonly<Pod>,
  audience: string,
  reading: Reading,
): { readonly found: boolean } | { readonly problem: string } {
  const problems = new Set<string>()
  for (const volume of pod.spec.volumes ?? []) {
    if (ownAudiences(volume).includes(audience)) return { found: true }
    try {
      const driver = driverOf(volume, pod, reading)
      if (driver !== undefined && driverAudiences(driver, reading).includes(audience)) return { found: true }
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error
      problems.add(error.message)
    }
  }
  if (problems.size === 0) return { found: false }
  return { problem: problems.size === 1 ? [...problems].join('') : `[${[...problems].join(', ')}]` }
}

function ownAudiences({ projected }: DeepReadonly<Volume>): string[] {
  return (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => {
    return serviceAccountToken === undefined ? [] : [(serviceAccountToken as { audience?: string }).audience ?? '']
  })
}

function driverAudiences(name: string, { reader, profile }: Reading): string[] {
  const group = `storage.${profile.apiDomain}`
  const driver = reader.get({ group, resource: 'csidrivers' }, '', name) as DeepReadonly<CsiDriver> | undefined
  if (driver === undefined) throw new Unreadable(`csidriver.${group} ${JSON.stringify(name)} not found`)
  return (driver.spec?.tokenRequests ?? []).map(({ audience = '' }) => audience)
}

function driverOf(volume: DeepReadonly<Volume>, pod: DeepReadonly<Pod>, reading: Reading): string | undefined {
  if (volume['ephemeral'] !== undefined) return driverOfClaim(`${pod.metadata.name ?? ''}-${volume.name}`, reading)
  const claimName = (volume['persistentVolumeClaim'] as { claimName?: string } | undefined)?.claimName
  if (claimName !== undefined) return driverOfClaim(claimName, reading)
  return driverIn(volume)
}

function driverOfClaim(name: string, { reader, attributes }: Reading): string | undefined {
  const claims = { group: '', resource: 'persistentvolumeclaims' }
  const claim = reader.get(claims, attributes.namespace, name) as DeepReadonly<Claim> | undefined
  if (claim === undefined) throw new Unreadable(`persistentvolumeclaim ${JSON.stringify(name)} not found`)
  const volumeName = claim.spec?.volumeName ?? ''
  const bound = reader.get({ group: '', resource: 'persistentvolumes' }, '', volumeName)
  if (bound === undefined) throw new Unreadable(`persistentvolume ${JSON.stringify(volumeName)} not found`)
  return driverIn((bound as DeepReadonly<PersistentVolume>).spec ?? {})
}

/** The driver of a volume, whether a pod has it or it stands alone. */
function driverIn(source: DeepReadonly<Record<string, unknown>>): string | undefined {
  const { driver } = (source['csi'] ?? {}) as { driver?: string }
  if (driver !== undefined) return driver
  const old = Object.keys(successors).find((member) => source[member] !== undefined)
  return old === undefined ? undefined : successors[old]
}
