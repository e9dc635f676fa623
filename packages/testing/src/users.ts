import type { ApiServerOptions } from '@krmkit/apiserver'
import { systemRandom, type UserInfo } from '@krmkit/meta'
import type { UserRule, UserRules } from './interfaces.ts'
import { checkMembers, invalidOption, type Members } from './known-members.ts'
import { checkKinds, shown } from './option-kinds.ts'
import { TestingError } from './testing-error.ts'

type Authorizer = Extract<ApiServerOptions['authorizer'], { authorize: unknown }>
type Attributes = Parameters<Authorizer['authorize']>[0]
type Authenticator = NonNullable<ApiServerOptions['authenticator']>

/** The part of a request that identifies its user. */
type AuthenticationRequest = Parameters<Authenticator['authenticate']>[0]
type RequestIdentity = Pick<AuthenticationRequest, 'headers' | 'peer'>
type Outcome = Awaited<ReturnType<Authenticator['authenticate']>>
type CertificateLookup = (certificates: readonly Uint8Array[] | undefined) => UserInfo | undefined

export const administrator: UserInfo = { username: 'test-admin', groups: ['system:masters', 'system:authenticated'] }
export const controllerUser: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
const openPaths = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz']

/** The users of a test: their rules and tokens. */
export class Users {
  readonly authorizer: Authorizer | undefined
  readonly authenticator: Authenticator
  readonly #rules: ReadonlyMap<string, UserRules> | undefined
  readonly #lookUpCertificate: CertificateLookup
  readonly #fallback: Authenticator | undefined
  readonly #tokens = new Map<string, UserInfo>()

  /** @param fallback authenticates requests with other credentials */
  constructor(
    users: Readonly<Record<string, UserRules>> | undefined,
    lookUpCertificate: CertificateLookup = () => undefined,
    fallback?: Authenticator,
  ) {
    this.#lookUpCertificate = lookUpCertificate
    this.#fallback = fallback
    this.#rules = users === undefined ? undefined : new Map(Object.entries(users))
    this.authorizer = this.#rules === undefined ? undefined : { authorize: (attributes) => this.#authorize(attributes) }
    this.authenticator = { authenticate: (request) => this.#authenticate(request) }
  }

  /** Returns the user of a name. @throws TestingError `UnknownUser` */
  resolve(user: string | UserInfo): UserInfo {
    checkUser(user)
    if (typeof user !== 'string') return user
    if (this.#rules === undefined || this.#rules.has(user)) return { username: user, groups: ['system:authenticated'] }
    const known = [...this.#rules.keys()].join(', ')
    throw new TestingError({ code: 'UnknownUser', message: `unknown user ${JSON.stringify(user)}; known users: ${known}` })
  }

  tokenOf(user: string | UserInfo): string {
    const info = this.resolve(user)
    for (const [token, known] of this.#tokens) if (JSON.stringify(known) === JSON.stringify(info)) return token
    const token = systemRandom.uuid()
    this.#tokens.set(token, info)
    return token
  }

  /** Revokes the tokens of a user. @returns their number */
  revoke(user: string | UserInfo): number {
    const info = JSON.stringify(this.resolve(user))
    const revoked = [...this.#tokens].filter(([, known]) => JSON.stringify(known) === info)
    for (const [token] of revoked) this.#tokens.delete(token)
    return revoked.length
  }

  /** Authenticates by certificate or token. Returns undefined for unknown tokens. */
  identify({ headers, peer }: RequestIdentity): UserInfo | undefined {
    const known = this.#lookUpCertificate(peer.certificates)
    if (known !== undefined) return known
    const header = typeof headers.authorization === 'string' ? headers.authorization : headers.authorization?.[0]
    if (header === undefined) return anonymous
    return /^bearer /i.test(header) ? this.#tokens.get(header.slice('bearer '.length).trim()) : undefined
  }

  #authenticate(request: AuthenticationRequest): Outcome | Promise<Outcome> {
    const user = this.identify(request)
    const isOwn = user !== undefined && user !== anonymous
    return isOwn || this.#fallback === undefined ? outcomeOf(user) : this.#fallBack(this.#fallback, request, user)
  }

  async #fallBack(fallback: Authenticator, request: AuthenticationRequest, user: UserInfo | undefined): Promise<Outcome> {
    const outcome = await fallback.authenticate(request)
    return outcome.kind === 'noOpinion' ? outcomeOf(user) : outcome
  }

  #authorize(attributes: Attributes) {
    const { user, isResource, verb, path } = attributes
    const rules = this.#rules?.get(user.username)
    const isOpen = !isResource && verb === 'get' && openPaths.some((open) => path === open || path.startsWith(`${open}/`))
    const isAllowed =
      user.groups.includes('system:masters') ||
      isOpen ||
      rules === 'all' ||
      (rules ?? []).some((rule) => allows(rule, attributes))
    return { decision: isAllowed ? 'allow' : 'noOpinion', reason: '' } as const
  }
}

const userMembers: Members<UserInfo> = { username: true, uid: true, groups: true, extra: true }

/** @throws TestingError `InvalidOption` */
function checkUser(user: string | UserInfo): void {
  const name = typeof user === 'string' ? user : undefined
  if (name !== undefined && name !== '') return
  if (typeof user !== 'object' || user === null)
    throw invalidOption(`a user is a name or { username, groups }, not ${shown(user)}`)
  checkMembers('a user', user, userMembers)
  checkKinds('a user', user, { username: 'text', uid: 'text', groups: 'texts' })
  if (user.username === undefined || user.username === '') throw invalidOption('a user needs a username')
  if (user.groups === undefined) throw invalidOption(`the user ${JSON.stringify(user.username)} needs groups, a list of strings`)
}

function outcomeOf(user: UserInfo | undefined): Outcome {
  if (user === undefined) return { kind: 'rejected', reason: 'the token is unknown to the test server' }
  return { kind: 'authenticated', user }
}

function allows(rule: UserRule, attributes: Attributes): boolean {
  const { verb, isResource, group, resource, subresource, namespace, name, path } = attributes
  const { apiGroups = [''], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] } = rule
  if (!matchesAny(rule.verbs, verb)) return false
  if (!isResource) {
    return nonResourceURLs.some((url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))))
  }
  const fullName = subresource === '' ? resource : `${resource}/${subresource}`
  const isNamed =
    matchesAny(resources, fullName) ||
    (subresource !== '' && (resources.includes(`${resource}/*`) || resources.includes(`*/${subresource}`)))
  return (
    matchesAny(apiGroups, group) &&
    isNamed &&
    (resourceNames.length === 0 || resourceNames.includes(name)) &&
    (namespaces.length === 0 || matchesAny(namespaces, namespace))
  )
}

function matchesAny(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}
