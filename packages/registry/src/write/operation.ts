import { paceOf, startWork } from '@krmkit/base/work'
import type { ApiObject, GroupVersionKind } from '@krmkit/meta'
import type { WriteContext } from '../interfaces.ts'
import type { StoreInternals } from '../internals.ts'
import { trackOwnership } from '../ownership/field-ownership.ts'
import { applyVersionDefaults } from '../versions/version-defaults.direct.ts'
import { admissionAttributes, admissionContext, restoreAdmittedMetadata } from './admission.ts'
import { assignNamespace, copyMetadata } from './metadata.ts'

/** An operation on a resource whose body is not stored: Binding, Eviction, TokenRequest, a connection. */
export interface OperationRequest {
  readonly namespace: string
  /** Empty for operations that address no object. */
  readonly name: string
  readonly subresource: string
  /** Kind of the body. */
  readonly kind: GroupVersionKind
  /** Default `CREATE`. */
  readonly operation?: 'CREATE' | 'CONNECT'
}

/** Admission of one operation: `admit` before it is carried out, `validate` on the resulting body. */
export interface OperationAdmission {
  /** @returns the body after mutating admission, which the caller may mutate. @throws ApiError */
  admit(object: ApiObject): Promise<ApiObject>
  /** @throws ApiError */
  validate(object: ApiObject): Promise<void>
}

/** Reservations of validating plugins are rolled back, because each write that the operation makes passes admission itself. */
export function operationAdmission(
  store: StoreInternals,
  context: WriteContext,
  { namespace, name, subresource, kind, operation = 'CREATE' }: OperationRequest,
): OperationAdmission {
  const { admission } = store.environment
  const attributes = admissionAttributes(store.definition, context, { operation, name, namespace, subresource, kind })
  const pluginContext = admissionContext(store, context)
  return {
    async admit(object) {
      const admitted = await admission.admit(object, attributes, pluginContext)
      // Connect options have no metadata, but drafts of plugins would add empty metadata.
      if (object.metadata === undefined) return admitted
      const body = copyMetadata(admitted)
      await startWork(restoreAdmittedMetadata(body, object, context), store.turns)
      return body
    },
    async validate(object) {
      const reservation = await admission.validate(object, attributes, pluginContext)
      await reservation?.rollback()
    },
  }
}

/**
 * Runs every step of a creation except storing the object, for kinds whose objects are never stored, such as SubjectAccessReview.
 *
 * @param object in the version of the store, decoded; the callee may mutate it.
 * @returns the admitted object, which the caller may mutate.
 */
export async function createVirtual(
  store: StoreInternals,
  context: WriteContext,
  { namespace, object }: { readonly namespace: string; readonly object: ApiObject },
): Promise<ApiObject> {
  const { definition, environment } = store
  const review = applyVersionDefaults(object, definition, environment)
  assignNamespace(review, namespace, definition)
  const pace = paceOf(store.turns, review)
  await trackOwnership(store, context, { live: undefined, next: review, subresource: '', pace })
  const { name = '' } = review.metadata
  const admission = operationAdmission(store, context, { namespace, name, subresource: '', kind: definition.kind })
  const admitted = await admission.admit(review)
  await admission.validate(admitted)
  return admitted
}
