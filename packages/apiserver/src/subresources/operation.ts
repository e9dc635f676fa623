import type { KindInfo } from '@krmkit/kinds'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { assignNamespace, type OperationAdmission, type WriteContext } from '@krmkit/registry'
import { readCreation } from '../encoding/creation.ts'
import { writeContext } from '../handlers/write-context.ts'
import type { RequestContext } from '../request/context.ts'
import type { WriteOptions } from '../request/query.ts'
import type { RequestScope } from '../request/scope.ts'

/** A POST whose body requests an action on an object and is not stored: Binding, Eviction, TokenRequest. */
export interface AdmittedOperation<T extends ApiObject> {
  /** The body after mutating admission. */
  readonly body: T
  /** Kind of the body. */
  readonly kind: KindInfo
  readonly options: WriteOptions
  readonly write: WriteContext
  readonly admission: OperationAdmission
}

/**
 * Reads the body of an operation and runs mutating admission.
 *
 * @param otherVersions further versions of the body's group that clients send.
 * @throws ApiError 400, 403, 413, 415, 422
 */
export async function admitOperation<T extends ApiObject>(
  scope: RequestScope,
  context: RequestContext,
  otherVersions: readonly string[] = [],
): Promise<AdmittedOperation<T>> {
  const { definition, store } = scope
  const { namespace, name, subresource } = context.info
  const gvk = scope.subresource?.kind ?? definition.kind
  const kind = scope.kind(gvk)
  if (kind === undefined) throw ApiError.genericNotFound()
  const { options, decoded } = await readCreation(scope, context, { gvk, type: kind.type, otherVersions, unstored: true })
  const { object: body } = decoded
  assignNamespace(body, namespace, definition)
  const write = writeContext(context, options)
  const admission = store.operation(write, { namespace, name: name || (body.metadata.name ?? ''), subresource, kind: gvk })
  return { body: (await admission.admit(body)) as T, kind, options, write, admission }
}
