import {
  type Attributes,
  type Authorizer,
  createEscalationGuard,
  createNodeAuthorizerFromInformer,
  createRbacAuthorizerFromInformer,
  type Decision,
  type ObjectInformer,
  type RbacAuthorizer,
  type SyncAuthorizer,
} from '@krmkit/authorization'
import type { Clock, NamingProfile, UserInfo } from '@krmkit/meta'
import type { Registry, WriteGuard } from '@krmkit/registry'
import { storeFeed } from './store-feed.ts'

/** What authorizers of a server can be made of. */
export interface AuthorizerEnvironment {
  /** The objects in the server's own store. */
  readonly objects: ObjectInformer
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
  readonly #given: Authorizer | AuthorizerFactory
  readonly #options: AccessControlOptions
  #current: Authorizer | undefined
  #awaited: Promise<void> | undefined
  #feed: ObjectInformer | undefined
  #rbac: Promise<RbacAuthorizer> | undefined

  constructor(given: Authorizer | AuthorizerFactory, options: AccessControlOptions) {
    this.#given = given
    this.#options = options
    if (typeof given !== 'function') this.#current = given
    this.authorizer =
      typeof given === 'function'
        ? new LateAuthorizer(
            () => this.#current,
            () => this.#awaited,
          )
        : given
    this.guard = this.#makeGuard()
  }

  async start(registry: Registry): Promise<void> {
    const { clock, profile, closing, onFault } = this.#options
    const objects = storeFeed({ registry, closing, onFault })
    this.#feed = objects
    if (typeof this.#given !== 'function') return
    const rbac = () => this.#createRbacAuthorizerFromInformer()
    this.#current = await this.#given({
      objects,
      clock,
      profile,
      rbac,
      nodes: () => createNodeAuthorizerFromInformer(objects, { profile }),
    })
  }

  /** Objects are being made that rights may come from: nobody is refused before that is done, or has failed. */
  await(making: Promise<void>): void {
    const done = () => {
      this.#awaited = undefined
    }
    this.#awaited = making.then(done, (error: unknown) => {
      done()
      this.#options.onFault(error)
    })
  }

  get awaits(): boolean {
    return this.#awaited !== undefined
  }

  #makeGuard(): WriteGuard {
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

  /** Roles are followed from the first time that they matter. */
  #createRbacAuthorizerFromInformer(): Promise<RbacAuthorizer> {
    const { profile } = this.#options
    if (this.#feed === undefined) throw new Error('the server has not started')
    this.#rbac ??= createRbacAuthorizerFromInformer(this.#feed, { profile })
    return this.#rbac
  }
}

/** Refuses everything until there is somebody to ask. */
class LateAuthorizer implements Authorizer {
  readonly #current: () => Authorizer | undefined
  readonly #awaited: () => Promise<void> | undefined

  constructor(current: () => Authorizer | undefined, awaited: () => Promise<void> | undefined) {
    this.#current = current
    this.#awaited = awaited
  }

  authorize(attributes: Attributes): Decision | Promise<Decision> {
    const awaited = this.#awaited()
    return awaited === undefined ? this.#ask(attributes) : this.#askAfter(awaited, attributes)
  }

  async #askAfter(awaited: Promise<void>, attributes: Attributes): Promise<Decision> {
    const early = await this.#ask(attributes)
    if (early.decision === 'allow') return early
    await awaited
    return this.#ask(attributes)
  }

  #ask(attributes: Attributes): Decision | Promise<Decision> {
    return this.#current()?.authorize(attributes) ?? { decision: 'noOpinion', reason: 'the server has not started' }
  }

  async rulesFor(user: UserInfo, namespace: string) {
    await this.#awaited()
    const nothing = { resourceRules: [], nonResourceRules: [], incomplete: false, errors: [] }
    return this.#current()?.rulesFor?.(user, namespace) ?? nothing
  }
}
