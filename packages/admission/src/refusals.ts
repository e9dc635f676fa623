import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { AdmissionAttributes } from './interfaces.ts'

/** How plugins refuse; @see API protocol specification, 7. */

/** 403; names the object as far as it has a name: that of the request, its own, or what one will be made from. */
export function forbidden(
  { name, resource }: AdmissionAttributes,
  object: DeepReadonly<ApiObject> | undefined,
  detail: string,
): ApiError {
  const { name: own = '', generateName = '' } = object?.metadata ?? {}
  return ApiError.forbidden(resource, name || own || generateName || 'Unknown', detail)
}

/** 500 with a bare message, as the stock server answers failures that it has no reason for. */
export function plainFailure(message: string): ApiError {
  return new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}

/** Several texts as one: alone as it is, else in brackets, each once. */
export function joinedTexts(texts: readonly string[]): string {
  const unique = [...new Set(texts)]
  return unique.length === 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`
}
