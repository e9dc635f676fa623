import type { ResourceDefinition, SubresourceStrategy } from '@krmkit/kinds'
import type { ApiObject, GroupVersionKind } from '@krmkit/meta'
import { admissionAttributes, admissionContext, mendAdmitted, type WriteContext } from '@krmkit/registry'
import type { ResourceRequest } from '../resource-handler.ts'

/** The operation itself decides what it changes; the rules of the object's own updates do not apply. */
export const anyChange: SubresourceStrategy = { prepareForUpdate: () => {}, validateUpdate: () => [] }

/** What admission is told of an operation. */
export interface Operation {
  readonly name: string
  /** Kind of the body: `Binding`, `Eviction`, ... */
  readonly kind: GroupVersionKind
  /** Default: `CREATE`. */
  readonly operation?: 'CREATE' | 'CONNECT'
}

/** Asks admission about an operation: first it may change the body, and then it judges what the operation made of it. */
export interface OperationAdmission {
  /** @returns the body as admission wants it; the caller's own. @throws ApiError */
  admit(object: ApiObject): Promise<ApiObject>
  /** @throws ApiError */
  judge(object: ApiObject): Promise<void>
}

/** Operations are not stored, so their reservations are rolled back; the objects that they write pass admission themselves. */
export function operationAdmission(
  { machinery, state }: ResourceRequest,
  definition: ResourceDefinition,
  context: WriteContext,
  { name, kind, operation = 'CREATE' }: Operation,
): OperationAdmission {
  const { admission } = machinery.writer.environment
  const { namespace, subresource } = state.info
  const attributes = admissionAttributes(definition, context, { operation, name, namespace, subresource, kind })
  const about = admissionContext(machinery.writer, context)
  return {
    async admit(object) {
      const admitted = await admission.admit(object, attributes, about)
      // Options of connections have no metadata; drafts of plugins give them an empty one.
      if (object.metadata === undefined) return admitted
      const own = { ...admitted, metadata: { ...admitted.metadata } }
      mendAdmitted(own, object, context)
      return own
    },
    async judge(object) {
      const reservation = await admission.validate(object, attributes, about)
      await reservation?.rollback()
    },
  }
}
