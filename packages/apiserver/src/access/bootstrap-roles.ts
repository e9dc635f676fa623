import {
  type BootstrapBinding,
  type BootstrapRole,
  bootstrapPolicy,
  type ReconcileResult,
  reconcileBinding,
  reconcileRole,
} from '@krmkit/authorization'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { createObject, deleteObject, type FrozenObject, type Registry, updateObject } from '@krmkit/registry'
import { serverContext } from '../bootstrap.ts'
import type { HealthCheck } from '../health.ts'
import { withDefaults } from '../request-body.ts'
import type { AccessControl } from './access-control.ts'

/**
 * Makes the roles and bindings that a stock server has from the start, and brings back what is missing of them. Safe to run again: when
 * nothing is missing nothing is written.
 */
export async function ensureBootstrapRoles(registry: Registry): Promise<void> {
  const { profile } = registry.environment
  const expected = bootstrapPolicy(profile)
  const bindings = splitPublicInfo(registry, expected.clusterRoleBindings)
  const role = (object: BootstrapRole, stored: FrozenObject) => reconcileRole(object, stored, profile)
  const binding = (object: BootstrapBinding, stored: FrozenObject) => reconcileBinding(object, stored, profile)
  const all = [
    ...expected.clusterRoles.map((object) => () => ensure(registry, 'clusterroles', object, role)),
    ...bindings.map((object) => () => ensure(registry, 'clusterrolebindings', object, binding)),
    ...expected.roles.map((object) => () => ensure(registry, 'roles', object, role)),
    ...expected.roleBindings.map((object) => () => ensure(registry, 'rolebindings', object, binding)),
  ]
  // Many at a time, which a durable store writes together; and others have their turn in between.
  for (let from = 0; from < all.length; from += atOnce) {
    await Promise.all(all.slice(from, from + atOnce).map((make) => make()))
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const atOnce = 16

/** Whether the roles and bindings of the start are there. */
export function bootstrapRolesCheck(access: AccessControl): HealthCheck {
  return {
    name: 'poststarthook/rbac/bootstrap-roles',
    check() {
      if (access.awaits) throw new Error('not finished')
    },
  }
}

/** Where old servers had one binding for discovery there are two now; the second begins with all that was made of the first. */
function splitPublicInfo(registry: Registry, expected: readonly BootstrapBinding[]): readonly BootstrapBinding[] {
  const resource = { group: `rbac.authorization.${registry.environment.profile.apiDomain}`, resource: 'clusterrolebindings' }
  const discovery = registry.reader.get(resource, '', 'system:discovery')
  if (discovery === undefined || registry.reader.get(resource, '', 'system:public-info-viewer') !== undefined) return expected
  const { subjects = [], metadata } = structuredClone(discovery) as unknown as BootstrapBinding
  const { labels = {}, annotations = {} } = metadata
  return expected.map((each) =>
    each.metadata.name === 'system:public-info-viewer'
      ? { ...each, metadata: { ...each.metadata, labels, annotations }, subjects: [...subjects] }
      : each,
  )
}

async function ensure<T extends ApiObject>(
  registry: Registry,
  resource: string,
  expected: T,
  reconcile: (expected: T, stored: FrozenObject) => ReconcileResult<T>,
): Promise<void> {
  const { profile } = registry.environment
  const group = `rbac.authorization.${profile.apiDomain}`
  const definition = registry.stored(group, resource)
  if (definition === undefined) return
  const { namespace = '', name = '' } = expected.metadata
  for (;;) {
    const stored = registry.reader.get({ group, resource }, namespace, name)
    try {
      if (stored === undefined) {
        await create(registry, definition, expected)
        return
      }
      const reconciled = reconcile(expected, stored)
      if (reconciled.action === 'keep') return
      if (reconciled.action === 'update') {
        const change = () => reconciled.object
        await updateObject(registry, definition, serverContext(), { namespace, name, subresource: '', change })
        return
      }
      await deleteObject(registry, definition, serverContext(), { namespace, name, options: {} })
    } catch (error) {
      // Another server over the same store, or somebody in it, was first: look again.
      if (!ApiError.is(error) || !['AlreadyExists', 'Conflict', 'NotFound'].includes(error.reason)) throw error
    }
  }
}

async function create(registry: Registry, definition: ResourceDefinition, expected: ApiObject): Promise<void> {
  const object = withDefaults(structuredClone(expected), definition, registry.environment.profile)
  await createObject(registry, definition, serverContext(), { namespace: expected.metadata.namespace ?? '', object })
}
