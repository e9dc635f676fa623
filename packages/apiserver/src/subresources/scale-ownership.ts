import { applyPatch, conflictError, createTypeConverter, FieldManagerError, trackUpdate } from '@krmkit/fieldmanager'
import { fieldElement } from '@krmkit/fieldmanager/fieldpath'
import {
  parentManagedFields,
  type ScaleOwnership,
  scaleApiVersion,
  scaleManagedFields,
} from '@krmkit/fieldmanager/managed-fields'
import type { ResourceDefinition } from '@krmkit/kinds'
import { ApiError, type ApiObject, formatApiVersion, type ManagedFieldsEntry } from '@krmkit/meta'
import type { FrozenObject, WriteContext } from '@krmkit/registry'
import type { StructType } from '@krmkit/schema'

/**
 * Field ownership across `/scale`: managedFields of a Scale refer to `.spec.replicas`, those of the scaled object to the path that
 * its kind defines.
 */
export interface ScaleOwners {
  /** The Scale with managedFields of the managers that own the replicas. */
  withOwners(scale: FrozenObject): FrozenObject
  /** managedFields after an update of a Scale: those of the Scale, and those of the scaled object. */
  afterUpdate(
    before: FrozenObject,
    next: FrozenObject,
  ): { readonly scale: FrozenObject['metadata']['managedFields'] | undefined; readonly parent: ManagedFieldsEntry[] }
  /** The Scale after an apply, with its managedFields. @throws ApiError 400, 409 */
  applied(before: FrozenObject, configuration: FrozenObject, force: boolean): ApiObject
  /** managedFields of the scaled object after an apply of its Scale. */
  afterApply(scale: ApiObject): ManagedFieldsEntry[]
}

export function scaleOwners(
  definition: ResourceDefinition,
  current: FrozenObject,
  { context, scaleType, now }: { readonly context: WriteContext; readonly scaleType: () => StructType; readonly now: number },
): ScaleOwners {
  const apiVersion = formatApiVersion(definition.kind)
  const { specReplicas = [], specReplicasByVersion = { [apiVersion]: specReplicas } } = definition.strategy.scale ?? {}
  const replicasPaths = Object.fromEntries(
    Object.entries(specReplicasByVersion).map(([version, path]) => [
      version,
      path?.map((member) => fieldElement(member)) ?? null,
    ]),
  )
  const ownership: ScaleOwnership = { live: current.metadata.managedFields, apiVersion, replicasPaths }
  const types = createTypeConverter({ [scaleApiVersion]: scaleType })
  const common = { manager: context.fieldManager, apiVersion: scaleApiVersion, subresource: 'scale', now, types }
  return {
    withOwners(scale) {
      const managedFields = scaleManagedFields(ownership)
      return managedFields.length === 0 ? scale : { ...scale, metadata: { ...scale.metadata, managedFields } }
    },
    afterUpdate(before, next) {
      // Updates of a Scale whose replicas have no owner are not tracked, like updates of any object without managedFields.
      const isTracked = (before.metadata.managedFields ?? []).length > 0
      const owners = isTracked ? trackUpdate({ ...common, live: before, next }).metadata.managedFields : undefined
      return { scale: owners, parent: parentManagedFields(ownership, owners) }
    },
    applied(before, configuration, force) {
      try {
        const result = applyPatch({ ...common, live: before, applied: configuration, force })
        if (result.kind === 'conflict') throw conflictError(result.conflicts)
        return result.object
      } catch (error) {
        if (error instanceof FieldManagerError) throw ApiError.badRequest(error.message)
        throw error
      }
    },
    afterApply: (scale) => parentManagedFields(ownership, scale.metadata.managedFields),
  }
}
