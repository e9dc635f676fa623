import type { Authorizer } from '@krmkit/authorization'
import type { ApiObject, DeepReadonly, NamingProfile } from '@krmkit/meta'
import type { AdmissionAttributes, ObjectReader } from '../interfaces.ts'
import { forbidden } from '../refusals.ts'

/** A request of a node agent, as the rules for it see it. */
export interface NodeRequest {
  /** The node that the agent is of. */
  readonly node: string
  readonly attributes: AdmissionAttributes
  /** Absent for DELETE. */
  readonly object: DeepReadonly<ApiObject> | undefined
  readonly reader: ObjectReader
  readonly profile: NamingProfile
  /** Tokens for other audiences than those that the pod's volumes name are refused. */
  readonly checkAudiences: boolean
  /** Asked about the right to further audiences. */
  readonly authorizer: Authorizer
}

/** @throws ApiError 403 */
export function refuse({ attributes, object }: NodeRequest, detail: string): never {
  throw forbidden(attributes, object, detail)
}
