import { ApiError, type UserInfo } from '@krmkit/meta'
import { createObject, type Registry } from '@krmkit/registry'
import { withDefaults } from './request-body.ts'

/** The server itself, where it writes on its own account. */
export const serverUser: UserInfo = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] }

/** Makes the namespaces that every cluster has. Safe to run again. */
export async function ensureSystemNamespaces(registry: Registry): Promise<void> {
  const definition = registry.stored('', 'namespaces')
  if (definition === undefined) return
  const { systemNamespace, publicNamespace, nodeLeaseNamespace } = registry.environment.profile
  const context = {
    user: serverUser,
    dryRun: false,
    fieldManager: 'kube-apiserver',
    signal: new AbortController().signal,
    warn: () => {},
  }
  for (const name of ['default', systemNamespace, publicNamespace, nodeLeaseNamespace]) {
    if (registry.reader.get({ group: '', resource: 'namespaces' }, '', name) !== undefined) continue
    try {
      const object = withDefaults(
        { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
        definition,
        registry.environment.profile,
      )
      await createObject(registry, definition, context, { namespace: '', object })
    } catch (error) {
      // Another server over the same store was first.
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
    }
  }
}
