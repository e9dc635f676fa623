import type { ResourceDefinition, SubresourcePolicy } from '@krmkit/kinds'
import type { ApiObject } from '@krmkit/meta'
import { admissionAttributes, admissionContext, type RequestContext } from '@krmkit/registry'
import type { ResourceRequest } from '../resource-handler.ts'

/** The operation itself decides what it changes; the rules of the object's own updates do not apply. */
export const anyChange: SubresourcePolicy = { prepareForUpdate: () => {}, validateUpdate: () => [] }

/** Asks admission about a POST to a sub-resource, as about any creation. @throws ApiError */
export async function admitOperation(
  { machinery, state }: ResourceRequest,
  definition: ResourceDefinition,
  context: RequestContext,
  { name, object }: { readonly name: string; readonly object: ApiObject },
): Promise<void> {
  const { environment } = machinery.writer
  const { namespace, subresource } = state.info
  const attributes = admissionAttributes(definition, context, { operation: 'CREATE', name, namespace, subresource })
  const admission = admissionContext(machinery.writer, context)
  const admitted = await environment.admission.admit(object, attributes, admission)
  await environment.admission.validate(admitted, attributes, admission)
}
