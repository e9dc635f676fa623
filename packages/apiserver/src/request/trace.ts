import type { AdmissionDecision } from '@krmkit/admission'
import type { Decision } from '@krmkit/authorization'
import type { UserInfo } from '@krmkit/meta'
import type { ApiRequest } from '@krmkit/protocol'
import type { FrozenObject, WriteStep } from '@krmkit/registry'

/**
 * A step of the decision about a request, sent to `ApiRequest.trace` in this order:
 *
 *     authenticated -> impersonated? -> authorized -> converted? -> (requested -> admission* -> written)*
 */
export type TraceStep =
  | { readonly step: 'authenticated'; readonly user: UserInfo; readonly method: AuthenticationMethod }
  | { readonly step: 'impersonated'; readonly user: UserInfo }
  | { readonly step: 'authorized'; readonly decision: Decision }
  | { readonly step: 'converted'; readonly conversion: TracedConversion }
  | { readonly step: 'admission'; readonly decision: AdmissionDecision }
  | WriteStep

/** How a user was authenticated. `in-process`: the caller in this process set the user. */
export type AuthenticationMethod = 'in-process' | 'client certificate' | 'bearer token' | 'front proxy' | 'anonymous'

/** The conversion of objects between the version of a request and the storage version. */
export interface TracedConversion {
  /** `autoscaling/v1` */
  readonly requested: string
  /** `autoscaling/v2` */
  readonly stored: string
  /** `webhook`: the conversion webhook of the CustomResourceDefinition. */
  readonly by: 'server' | 'webhook'
}

/** One write of a request. Objects are frozen, shared with the server, and in the storage version. */
export interface TracedWrite {
  /** Absent: the object was created. */
  readonly before: FrozenObject | undefined
  /** The requested object, with defaults, before mutating admission and without managedFields. Absent for deletions. */
  readonly requested: FrozenObject | undefined
  /** Absent when the object was removed; identical to `before` when the write changed nothing. */
  readonly after: FrozenObject | undefined
  /** Field manager of the request; empty for deletions. */
  readonly manager: string
  /** Number of times the change ran; above 1 when another writer was first. */
  readonly attempts: number
  /** Decisions of admission plugins in the last attempt, without plugins that did nothing. */
  readonly decisions: readonly AdmissionDecision[]
}

/**
 * Collects the steps of one request.
 *
 * @example
 * import { RequestTrace } from '@krmkit/apiserver/request-trace'
 * const trace = new RequestTrace()
 * const request = { method: 'GET', path: '/api/v1/pods', query: '', headers: {}, peer: {}, trace: trace.receive }
 */
export class RequestTrace {
  /** Absent when authentication failed. */
  authentication: { readonly user: UserInfo; readonly method: AuthenticationMethod } | undefined = undefined
  impersonated: UserInfo | undefined = undefined
  /** Absent when the request did not reach authorization. */
  authorization: Decision | undefined = undefined
  /** Absent when the version of the request is the storage version. */
  conversion: TracedConversion | undefined = undefined
  readonly writes: TracedWrite[] = []
  #requested: FrozenObject | undefined = undefined
  #manager = ''
  #attempts = 0
  #decisions: AdmissionDecision[] = []

  /** Decisions without a write: those of a refused request or of a dry run. */
  get decisions(): readonly AdmissionDecision[] {
    return this.#decisions
  }

  /** The sink for `ApiRequest.trace`. */
  readonly receive = (step: TraceStep): void => {
    switch (step.step) {
      case 'authenticated':
        this.authentication = { user: step.user, method: step.method }
        break
      case 'impersonated':
        this.impersonated = step.user
        break
      case 'authorized':
        this.authorization = step.decision
        break
      case 'converted':
        this.conversion = step.conversion
        break
      case 'admission':
        this.#decisions.push(step.decision)
        break
      case 'requested':
        this.#requested = step.object
        this.#manager = step.manager
        this.#attempts++
        this.#decisions = []
        break
      case 'written':
        this.#addWrite(step.before, step.after)
    }
  }

  #addWrite(before: FrozenObject | undefined, after: FrozenObject | undefined): void {
    const attempts = Math.max(this.#attempts, 1)
    this.writes.push({
      before,
      requested: this.#requested,
      after,
      manager: this.#manager,
      attempts,
      decisions: this.#decisions,
    })
    this.#requested = undefined
    this.#manager = ''
    this.#attempts = 0
    this.#decisions = []
  }
}

/**
 * The authentication method of an accepted request, derived from its credentials.
 *
 * @see {@link RequestTrace} with an example
 */
export function authenticationMethod(request: ApiRequest, user: UserInfo): AuthenticationMethod {
  if (request.user !== undefined) return 'in-process'
  if (user.username === 'system:anonymous') return 'anonymous'
  if (request.headers['authorization'] !== undefined) return 'bearer token'
  // Web socket clients send their token in a subprotocol.
  if ((request.peer.certificates ?? []).length === 0) return 'bearer token'
  return request.headers['x-remote-user'] === undefined ? 'client certificate' : 'front proxy'
}

export type { AdmissionDecision, Decision, FrozenObject, WriteStep }
