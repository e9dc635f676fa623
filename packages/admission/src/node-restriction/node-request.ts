import type { Authorizer } from '@krmkit/authorization'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionAttributes, ObjectReader } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/** A request by a kubelet. */
export interface NodeRequest {
  /** The kubelet's own node. */
  readonly node: string
  readonly attributes: AdmissionAttributes
  /** Absent for DELETE. */
  readonly object: DeepReadonly<ApiObject> | undefined
  readonly reader: ObjectReader
  readonly profile: NamingProfile
  /** Restricts tokens to audiences that the pod's volumes name. */
  readonly checkAudiences: boolean
  /** Authorizes further audiences. */
  readonly authorizer: Authorizer
}

/** @throws ApiError 403 */
export function refuse({ attributes, object }: NodeRequest, detail: string): never {
  throw forbidden(attributes, object, detail)
}

/** The name of the object: from the request, or from the object itself for CREATE. */
export function nameOf({ attributes, object }: NodeRequest): string {
  return attributes.operation === 'CREATE' ? (object?.metadata.name ?? '') : attributes.name
}
