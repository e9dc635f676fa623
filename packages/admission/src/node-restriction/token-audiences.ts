import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { aggregateMessages } from '@krmkit/meta/go-text'
import type { Pod, Volume } from '../pod.ts'
import type { NodeRequest } from './node-request.ts'

/** The token audiences that the volumes of a pod name. */

type LookupContext = Pick<NodeRequest, 'reader' | 'profile' | 'attributes'>

interface CsiDriver extends ApiObject {
  spec?: { tokenRequests?: { audience?: string }[] }
}

interface Claim extends ApiObject {
  spec?: { volumeName?: string }
}

interface PersistentVolume extends ApiObject {
  spec?: Record<string, unknown>
}

/** CSI drivers that in-tree volume sources migrated to, by the member of the volume. */
const migratedDrivers: Readonly<Record<string, string>> = {
  awsElasticBlockStore: 'ebs.csi.aws.com',
  azureDisk: 'disk.csi.azure.com',
  azureFile: 'file.csi.azure.com',
  cinder: 'cinder.csi.openstack.org',
  gcePersistentDisk: 'pd.csi.storage.gke.io',
  portworxVolume: 'pxd.portworx.com',
  vsphereVolume: 'csi.vsphere.vmware.com',
}

/** A referenced object is missing. */
class LookupError extends Error {}

/**
 * Whether a volume of the pod, or the CSI driver of one, names an audience.
 *
 * @returns the result, or the message of the failed lookup.
 */
export function mentionsAudience(
  pod: DeepReadonly<Pod>,
  audience: string,
  context: LookupContext,
): { readonly found: boolean } | { readonly problem: string } {
  const problems = new Set<string>()
  for (const volume of pod.spec.volumes ?? []) {
    if (projectedAudiences(volume).includes(audience)) return { found: true }
    try {
      const driver = driverOf(volume, pod, context)
      if (driver !== undefined && driverAudiences(driver, context).includes(audience)) return { found: true }
    } catch (error) {
      if (!(error instanceof LookupError)) throw error
      problems.add(error.message)
    }
  }
  if (problems.size === 0) return { found: false }
  return { problem: aggregateMessages(problems) }
}

function projectedAudiences({ projected }: DeepReadonly<Volume>): string[] {
  return (projected?.sources ?? []).flatMap(({ serviceAccountToken }) => {
    return serviceAccountToken === undefined ? [] : [(serviceAccountToken as { audience?: string }).audience ?? '']
  })
}

function driverAudiences(name: string, { reader, profile }: LookupContext): string[] {
  const group = `storage.${profile.apiDomain}`
  const driver = reader.get({ group, resource: 'csidrivers' }, '', name) as DeepReadonly<CsiDriver> | undefined
  if (driver === undefined) throw new LookupError(`csidriver.${group} ${JSON.stringify(name)} not found`)
  return (driver.spec?.tokenRequests ?? []).map(({ audience = '' }) => audience)
}

function driverOf(volume: DeepReadonly<Volume>, pod: DeepReadonly<Pod>, context: LookupContext): string | undefined {
  if (volume['ephemeral'] !== undefined) return driverOfClaim(`${pod.metadata.name ?? ''}-${volume.name}`, context)
  const claimName = (volume['persistentVolumeClaim'] as { claimName?: string } | undefined)?.claimName
  if (claimName !== undefined) return driverOfClaim(claimName, context)
  return driverIn(volume)
}

function driverOfClaim(name: string, { reader, attributes }: LookupContext): string | undefined {
  const claims = { group: '', resource: 'persistentvolumeclaims' }
  const claim = reader.get(claims, attributes.namespace, name) as DeepReadonly<Claim> | undefined
  if (claim === undefined) throw new LookupError(`persistentvolumeclaim ${JSON.stringify(name)} not found`)
  const volumeName = claim.spec?.volumeName ?? ''
  const bound = reader.get({ group: '', resource: 'persistentvolumes' }, '', volumeName)
  if (bound === undefined) throw new LookupError(`persistentvolume ${JSON.stringify(volumeName)} not found`)
  return driverIn((bound as DeepReadonly<PersistentVolume>).spec ?? {})
}

/** The CSI driver of a volume source: of a pod's volume or of a PersistentVolume. */
function driverIn(source: DeepReadonly<Record<string, unknown>>): string | undefined {
  const { driver } = (source['csi'] ?? {}) as { driver?: string }
  if (driver !== undefined) return driver
  const inTree = Object.keys(migratedDrivers).find((member) => source[member] !== undefined)
  return inTree === undefined ? undefined : migratedDrivers[inTree]
}
