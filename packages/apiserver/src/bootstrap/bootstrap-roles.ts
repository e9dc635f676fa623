import {
  type BootstrapBinding,
  type BootstrapRole,
  bootstrapPolicy,
  type ReconcileResult,
  reconcileBinding,
  reconcileRole,
} from '@krmkit/authorization/bootstrap'
import { onNextTurn } from '@krmkit/base/work'
import { ApiError, type ApiObject, type Features, type NamingProfile } from '@krmkit/meta'
import { type FrozenObject, type Registry, serverContext } from '@krmkit/registry'
import type { AccessControl } from '../access/access-control.ts'
import type { HealthCheck } from '../health/health.ts'

/** Creates the default roles and bindings, and restores missing rules and subjects. Writes nothing when none are missing. */
export async function ensureBootstrapRoles(
  registry: Registry,
  profile: NamingProfile,
  { features }: { readonly features?: Features } = {},
): Promise<void> {
  const group = `rbac.authorization.${profile.apiDomain}`
  const target = (resource: string) => ({ registry, group, resource })
  const expected = bootstrapPolicy(profile, features === undefined ? {} : { features })
  const bindings = splitPublicInfo(target('clusterrolebindings'), expected.clusterRoleBindings)
  const role = (object: BootstrapRole, stored: FrozenObject) => reconcileRole(object, stored, profile)
  const binding = (object: BootstrapBinding, stored: FrozenObject) => reconcileBinding(object, stored, profile)
  const all = [
    ...expected.clusterRoles.map((object) => () => ensure(target('clusterroles'), object, role)),
    ...bindings.map((object) => () => ensure(target('clusterrolebindings'), object, binding)),
    ...expected.roles.map((object) => () => ensure(target('roles'), object, role)),
    ...expected.roleBindings.map((object) => () => ensure(target('rolebindings'), object, binding)),
  ]
  // Concurrent writes share one commit of a durable store; other requests run between the batches.
  for (let from = 0; from < all.length; from += batchSize) {
    await Promise.all(all.slice(from, from + batchSize).map((task) => task()))
    await new Promise<void>(onNextTurn)
  }
}

const batchSize = 16

/** Ready once the default roles and bindings exist. */
export function bootstrapRolesCheck(access: AccessControl): HealthCheck {
  return {
    name: 'poststarthook/rbac/bootstrap-roles',
    check() {
      if (access.isPending) throw new Error('not finished')
    },
  }
}

interface Target {
  readonly registry: Registry
  readonly group: string
  readonly resource: string
}

/**
 * Older servers had one binding for discovery instead of two. The second binding is created with the subjects of a customised first one.
 */
function splitPublicInfo({ registry, ...resource }: Target, expected: readonly BootstrapBinding[]): readonly BootstrapBinding[] {
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
  { registry, group, resource }: Target,
  expected: T,
  reconcile: (expected: T, stored: FrozenObject) => ReconcileResult<T>,
): Promise<void> {
  const store = registry.storeOf({ group, resource })
  if (store === undefined) return
  const { namespace = '', name = '' } = expected.metadata
  for (;;) {
    const stored = registry.reader.get({ group, resource }, namespace, name)
    try {
      if (stored === undefined) {
        await store.create(serverContext(), { namespace, object: structuredClone(expected) })
        return
      }
      const reconciled = reconcile(expected, stored)
      if (reconciled.action === 'keep') return
      if (reconciled.action === 'update') {
        const change = () => reconciled.object
        await store.updateStored(serverContext(), { namespace, name, subresource: '', change })
        return
      }
      await store.delete(serverContext(), { namespace, name, options: {} })
    } catch (error) {
      // Another server over the same store, or a user, wrote first: read again.
      if (!ApiError.is(error) || !['AlreadyExists', 'Conflict', 'NotFound'].includes(error.reason)) throw error
    }
  }
}
