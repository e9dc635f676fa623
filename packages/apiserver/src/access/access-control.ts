import {
  type Attributes,
  type Authorizer,
  type Decision,
  escalationGuard,
  followNodes,
  followRbac,
  type ObjectFeed,
  type RbacAuthorizer,
  type SyncAuthorizer,
} from '@krmkit/authorization'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import type { Registry, WriteGuard } from '@krmkit/registry'
import { storeFeed } from './store-feed.ts'

/** What authorizers of a server can be made of. */
export interface AuthorizerEnvironment {
  /** The objects in the server's own store. */
  readonly objects: ObjectFeed
  readonly clock: Clock
  readonly profile: NamingProfile
  /** Decides by the roles and bindings in the store. One for all who ask. */
  rbac(): Promise<RbacAuthorizer>
  /** Decides about nodes by the pods and volumes in the store. */
  nodes(): Promise<SyncAuthorizer>
}

/** Makes an authorizer that needs the server's own objects. */
export type AuthorizerFactory = (environment: AuthorizerEnvironment) => Authorizer | Promise<Authorizer>

export interface AccessControlOptions {
  readonly clock: Clock
  readonly profile: NamingProfile
  readonly closing: AbortSignal
  readonly onFault: (error: unknown) => void
}

/**
 * The authorizer of a server, and who may write roles. Parts of the server are given `authorizer` and `guard` before there is a store to
 * follow; both answer once `start` has resolved.
 */
export class AccessControl {
  readonly authorizer: Authorizer
  readonly guard: WriteGuard
  readonly #configured: Authorizer | AuthorizerFactory
  readonly #options: AccessControlOptions
  #current: Authorizer | undefined
  #pending: Promise<void> | undefined
  #feed: ObjectFeed | undefined
  #rbac: Promise<RbacAuthorizer> | undefined

  constructor(given: Authorizer | AuthorizerFactory, options: AccessControlOptions) {
    this.#configured = given
    this.#options = options
    if (typeof given !== 'function') this.#current = given
    this.authorizer =
      typeof given === 'function'
        ? new DeferredAuthorizer(
            () => this.#current,
            () => this.#pending,
          )
        : given
    this.guard = this.#createGuard()
  }

  async start(registry: Registry): Promise<void> {
    const { clock, profile, closing, onFault } = this.#options
    const objects = storeFeed({ registry, closing, onFault })
    this.#feed = objects
    if (typeof this.#configured !== 'function') return
    const rbac = () => this.#followRbac()
    this.#current = await this.#configured({ objects, clock, profile, rbac, nodes: () => followNodes(objects, { profile }) })
  }

  /** Objects are being made that rights may come from: nobody is refused before that is done, or has failed. */
  deferDenials(making: Promise<void>): void {
    const done = () => {
      this.#pending = undefined
    }
    this.#pending = making.then(done, (error: unknown) => {
      done()
      this.#options.onFault(error)
    })
  }

  get isPending(): boolean {
    return this.#pending !== undefined
  }

  #createGuard(): WriteGuard {
    const { profile } = this.#options
    const group = `rbac.authorization.${profile.apiDomain}`
    const check = escalationGuard({ authorizer: this.authorizer, rbac: () => this.#followRbac(), profile })
    return {
      covers: (definition) => definition.group === group && definition.custom === undefined,
      check: ({ definition, ...write }) => check({ ...write, resource: definition.resource.name }),
    }
  }

  /** Roles are followed from the first time that they matter. */
  #followRbac(): Promise<RbacAuthorizer> {
    const { profile } = this.#options
    if (this.#feed === undefined) throw new Error('the server has not started')
    this.#rbac ??= followRbac(this.#feed, { profile })
    return this.#rbac
  }
}

/** Refuses everything until there is somebody to ask. */
class DeferredAuthorizer implements Authorizer {
  readonly #current: () => Authorizer | undefined
  readonly #pending: () => Promise<void> | undefined

  constructor(current: () => Authorizer | undefined, awaited: () => Promise<void> | undefined) {
    this.#current = current
    this.#pending = awaited
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const awaited = this.#pending()
    return awaited === undefined ? this.#decide(attributes) : this.#decideAfter(awaited, attributes)
  }

  async #decideAfter(awaited: Promise<void>, attributes: Attributes): Promise<Decision> {
    const early = await this.#decide(attributes)
    if (early.decision === 'allow') return early
    await awaited
    return this.#decide(attributes)
  }

  #decide(attributes: Attributes): Decision | Promise<Decision> {
    return this.#current()?.authorize(attributes) ?? { decision: 'noOpinion', reason: 'the server has not started' }
  }

  async rulesFor(user: UserInfo, namespace: string) {
    await this.#pending()
    const nothing = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
    return this.#current()?.rulesFor?.(user, namespace) ?? nothing
  }
}
