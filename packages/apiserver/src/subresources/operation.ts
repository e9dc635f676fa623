import type { KindInfo } from '@krmkit/kinds'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { type OperationAdmission, takeNamespace, type WriteContext } from '@krmkit/registry'
import { readObject } from '../encoding/request-body.ts'
import type { WriteOptions } from '../query.ts'
import type { RequestContext } from '../request-context.ts'
import { type RequestScope, requestedOptions } from '../request-scope.ts'
import { writeContext } from '../write-context.ts'

/** A POST whose body is an order about an object and is not stored: Binding, Eviction, TokenRequest. */
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
  const options = requestedOptions(scope, context, 'CreateOptions')
  const { fieldValidation } = options
  const expected = { gvk, type: kind.type, fieldValidation, otherVersions, unstored: true }
  const body = await readObject(scope, context, expected)
  takeNamespace(body, namespace, definition)
  const write = writeContext(context, options)
  const admission = store.operation(write, { namespace, name: name || (body.metadata.name ?? ''), subresource, kind: gvk })
  return { body: (await admission.admit(body)) as T, kind, options, write, admission }
}
