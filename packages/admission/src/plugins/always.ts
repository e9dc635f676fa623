import type { AdmissionPlugin } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/**
 * Does nothing. Configurations of kube-apiserver may name it.
 *
 * @example
 * ```ts
 * import { createAdmissionChain } from '@krmkit/admission'
 * import { alwaysAdmit } from '@krmkit/admission/plugins'
 *
 * const chain = createAdmissionChain([alwaysAdmit()]) // admits every request
 * ```
 */
export function alwaysAdmit(): AdmissionPlugin {
  return { name: 'AlwaysAdmit', handles: () => false }
}

/**
 * Refuses every write; for tests.
 *
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { alwaysDeny } from '@krmkit/admission/plugins'
 *
 * const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } }
 * const kind = { group: '', version: 'v1', kind: 'Namespace' }
 * const resource = { group: '', version: 'v1', resource: 'namespaces' }
 * const { status } = await admit({ kind, resource, object }, [alwaysDeny()], new ObjectSet())
 * status?.message // 'namespaces "shop" is forbidden: admission control is denying all modifications'
 * ```
 */
export function alwaysDeny(): AdmissionPlugin {
  return {
    name: 'AlwaysDeny',
    handles: () => true,
    validate(object, attributes) {
      throw forbidden(attributes, object, 'admission control is denying all modifications')
    },
  }
}
