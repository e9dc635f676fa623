import { ApiError, type ApiObject, type NamingProfile } from '@krmkit/meta'
import { type Registry, serverContext } from '@krmkit/registry'

/** Creates the namespaces and priority classes that every cluster has, where they are missing. */
export async function ensureSystemObjects(registry: Registry, profile: NamingProfile): Promise<void> {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace, apiDomain } = profile
  for (const name of ['default', systemNamespace, publicNamespace, nodeLeaseNamespace]) {
    await ensure(registry, '', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
  }
  const group = `scheduling.${apiDomain}`
  for (const rest of systemPriorityClasses) {
    await ensure(registry, group, { apiVersion: `${group}/v1`, kind: 'PriorityClass', ...rest })
  }
}

const resources: Readonly<Record<string, string>> = { Namespace: 'namespaces', PriorityClass: 'priorityclasses' }

const systemPriorityClasses = [
  {
    metadata: { name: 'system-node-critical' },
    value: 2_000_001_000,
    description: 'For system pods that must not move from their node.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'For system pods that the cluster needs on any node.',
  },
]

async function ensure(registry: Registry, group: string, object: ApiObject): Promise<void> {
  const resource = resources[object.kind] ?? ''
  const store = registry.storeOf({ group, resource })
  const { name = '' } = object.metadata
  if (store === undefined || registry.reader.get({ group, resource }, '', name) !== undefined) return
  try {
    await store.create(serverContext(), { namespace: '', object: structuredClone(object) })
  } catch (error) {
    // Another server over the same store has created the object.
    if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
  }
}
