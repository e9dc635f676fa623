import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes } from './interfaces.ts'

/** Errors of plugins; @see API protocol specification, 7. */

/** 403 with the name of the request, or the object's `name` or `generateName`. */
export function forbidden(
  { name, resource }: AdmissionAttributes,
  object: DeepReadonly<ApiObject> | undefined,
  detail: string,
): ApiError {
  const { name: own = '', generateName = '' } = object?.metadata ?? {}
  return ApiError.forbidden(resource, name || own || generateName || 'Unknown', detail)
}

/** 500 with a message and no reason, as kube-apiserver reports untyped errors. */
export function internalFailure(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}
