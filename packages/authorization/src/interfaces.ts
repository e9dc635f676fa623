import type { UserInfo } from '@krmkit/meta'

/** What a caller wants to do; @see API protocol specification, 5.9. */
export interface Attributes {
  readonly user: UserInfo
  /** `get`, `list`, `watch`, `create`, ... for resources; the HTTP method in lower case for other paths. */
  readonly verb: string
  /** False for paths that are no resource (`/version`). */
  readonly isResource: boolean
  readonly group: string
  readonly version: string
  readonly resource: string
  readonly subresource: string
  /** Empty for cluster-wide requests. */
  readonly namespace: string
  /** Empty when the request names no object. */
  readonly name: string
  /** The whole path, for requests that are no resource. */
  readonly path: string
}

/** `noOpinion` passes the question on; when everybody has none the request is refused. */
export interface Decision {
  readonly decision: 'allow' | 'deny' | 'noOpinion'
  /** For people: which rule decided. Appears in refusals and in the audit trail. */
  readonly reason: string
}

export interface Authorizer {
  authorize(attributes: Attributes): Decision | Promise<Decision>
}
