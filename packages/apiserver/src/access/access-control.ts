import {
  type Attributes,
  type AuthorizationMetrics,
  type Authorizer,
  createEscalationGuard,
  createNodeAuthorizerFromInformer,
  createRbacAuthorizerFromInformer,
  type Decision,
  type ObjectInformer,
  type RbacAuthorizer,
  type SyncAuthorizer,
} from '@krmkit/authorization'
import type { Clock, Features, NamingProfile, UserInfo } from '@krmkit/meta'
import type { Registry, WriteGuard } from '@krmkit/registry'
import { checkAuthorizer } from './authorizer-check.ts'
import { storeFeed } from './store-feed.ts'

/** What the factory of an authorizer can use of the server. */
export interface AuthorizerEnvironment {
  /** The objects in the server's store. */
  readonly objects: ObjectInformer
  readonly clock: Clock
  readonly profile: NamingProfile
  /** Counts decisions in the metrics of the server. */
  readonly metrics: AuthorizationMetrics
  /** Returns the authorizer that decides by the roles and bindings in the store; every call returns the same one. */
  rbac(): Promise<RbacAuthorizer>
  /** Returns the authorizer that authorizes nodes by the pods and volumes in the store. */
  nodes(): Promise<SyncAuthorizer>
}

/** Creates an authorizer that depends on objects in the server's store. */
export type AuthorizerFactory = (environment: AuthorizerEnvironment) => Authorizer | Promise<Authorizer>

export interface AccessControlOptions {
  readonly clock: Clock
  readonly profile: NamingProfile
  /** Default: those of the newest release. */
  readonly features?: Features
  readonly metrics: AuthorizationMetrics
  readonly closing: AbortSignal
  readonly onError: (error: unknown) => void
}

/**
 * The authorizer of a server and its RBAC escalation guard. `authorizer` and `guard` are handed to other parts before the store exists;
 * both work once `start` has resolved.
 */
export class AccessControl {
  readonly authorizer: Authorizer
  readonly guard: WriteGuard
  readonly #configured: Authorizer | AuthorizerFactory
  readonly #options: AccessControlOptions
  #current: Authorizer | undefined
  #pending: Promise<void> | undefined
  #feed: ObjectInformer | undefined
  #rbac: Promise<RbacAuthorizer> | undefined

  constructor(authorizer: Authorizer | AuthorizerFactory, options: AccessControlOptions) {
    this.#configured = authorizer
    this.#options = options
    if (typeof authorizer !== 'function') this.#current = authorizer
    this.authorizer =
      typeof authorizer === 'function'
        ? new DeferredAuthorizer(
            () => this.#current,
            () => this.#pending,
          )
        : authorizer
    this.guard = this.#createGuard()
  }

  async start(registry: Registry): Promise<void> {
    const { clock, profile, features, metrics, closing, onError } = this.#options
    const objects = storeFeed({ registry, closing, onError })
    this.#feed = objects
    if (typeof this.#configured !== 'function') return
    const rbac = () => this.#createRbacAuthorizerFromInformer()
    const created = await this.#configured({
      objects,
      clock,
      profile,
      metrics,
      rbac,
      nodes: () => createNodeAuthorizerFromInformer(objects, { profile, ...(features === undefined ? {} : { features }) }),
    })
    checkAuthorizer('the result of `authorizer`', created)
    this.#current = created
  }

  /** Defers denials until `pending`, which creates objects that grant permissions, has ended. A failure of `pending` is reported. */
  deferDenials(pending: Promise<void>): void {
    const done = () => {
      this.#pending = undefined
    }
    this.#pending = pending.then(done, (error: unknown) => {
      done()
      this.#options.onError(error)
    })
  }

  /** Whether denials are still deferred. */
  get isPending(): boolean {
    return this.#pending !== undefined
  }

  #createGuard(): WriteGuard {
    const { profile } = this.#options
    const group = `rbac.authorization.${profile.apiDomain}`
    const check = createEscalationGuard({
      authorizer: this.authorizer,
      rbac: () => this.#createRbacAuthorizerFromInformer(),
      profile,
    })
    return {
      covers: (definition) => definition.group === group && definition.custom === undefined,
      check: ({ definition, ...write }) => check({ ...write, resource: definition.resource.name }),
    }
  }

  /** Starts following roles on first use. */
  #createRbacAuthorizerFromInformer(): Promise<RbacAuthorizer> {
    const { profile } = this.#options
    if (this.#feed === undefined) throw new Error('the server has not started')
    this.#rbac ??= createRbacAuthorizerFromInformer(this.#feed, { profile })
    return this.#rbac
  }
}

/** Has no opinion until the authorizer exists. While denials are deferred, a request that is not allowed is decided again afterwards. */
class DeferredAuthorizer implements Authorizer {
  readonly #current: () => Authorizer | undefined
  readonly #pending: () => Promise<void> | undefined

  constructor(current: () => Authorizer | undefined, pending: () => Promise<void> | undefined) {
    this.#current = current
    this.#pending = pending
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const pending = this.#pending()
    return pending === undefined ? this.#decide(attributes) : this.#decideAfter(pending, attributes)
  }

  async #decideAfter(pending: Promise<void>, attributes: Attributes): Promise<Decision> {
    const early = await this.#decide(attributes)
    if (early.decision === 'allow') return early
    await pending
    return this.#decide(attributes)
  }

  #decide(attributes: Attributes): Decision | Promise<Decision> {
    return this.#current()?.authorize(attributes) ?? { decision: 'noOpinion', reason: 'the server has not started' }
  }

  async rulesFor(user: UserInfo, namespace: string) {
    await this.#pending()
    const noRules = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
    return this.#current()?.rulesFor?.(user, namespace) ?? noRules
  }
}
