import { ApiError, type ApiObject, type UserInfo } from '@krmkit/meta'
import { createObject, type Registry, type WriteContext } from '@krmkit/registry'
import { withDefaults } from './request-body.ts'

/** The server itself, where it writes on its own account. */
const serverUser: UserInfo = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** The context of its writes. Absent `signal`: nothing ends them. */
export function serverContext(signal: AbortSignal = new AbortController().signal): WriteContext {
  return { user: serverUser, dryRun: false, fieldManager: 'kube-apiserver', signal, warn: () => {} }
}

/** Makes the objects that every cluster has: namespaces, and the priority classes of the system. Safe to run again. */
export async function ensureSystemObjects(registry: Registry): Promise<void> {
  const { systemNamespace, publicNamespace, nodeLeaseNamespace, apiDomain } = registry.environment.profile
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
    description: 'For pods of the system that have to stay on the node where they run.',
  },
  {
    metadata: { name: 'system-cluster-critical' },
    value: 2_000_000_000,
    description: 'For pods of the system that the cluster needs, on whichever node.',
  },
]

async function ensure(registry: Registry, group: string, given: ApiObject): Promise<void> {
  const resource = resources[given.kind] ?? ''
  const definition = registry.stored(group, resource)
  const { name = '' } = given.metadata
  if (definition === undefined || registry.reader.get({ group, resource }, '', name) !== undefined) return
  try {
    const object = withDefaults(given, definition, registry.environment.profile)
    await createObject(registry, definition, serverContext(), { namespace: '', object })
  } catch (error) {
    // Another server over the same store was first.
    if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
  }
}
