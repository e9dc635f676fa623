import type { ApiServerOptions } from '@krmkit/apiserver'
import { systemRandom, type UserInfo } from '@krmkit/meta'
import type { UserRule, UserRules } from './interfaces.ts'
import { TestingError } from './testing-error.ts'

type Authorizer = Extract<ApiServerOptions['authorizer'], { authorize: unknown }>
type Attributes = Parameters<Authorizer['authorize']>[0]
type Authenticator = NonNullable<ApiServerOptions['authenticator']>

/** As much of a request as tells who sends it. */
type Caller = Pick<Parameters<Authenticator['authenticate']>[0], 'headers' | 'peer'>
type ByCertificate = (certificates: readonly Uint8Array[] | undefined) => UserInfo | undefined

export const administrator: UserInfo = { username: 'test-admin', groups: ['system:masters', 'system:authenticated'] }
export const controllerUser: UserInfo = {
  username: 'system:kube-controller-manager',
  groups: ['system:masters', 'system:authenticated'],
}

const anonymous: UserInfo = { username: 'system:anonymous', groups: ['system:unauthenticated'] }
const openPaths = ['/api', '/apis', '/openapi', '/version', '/healthz', '/livez', '/readyz']

/** The people of a test: what they may do, and the tokens by which they are known. */
export class Users {
  readonly authorizer: Authorizer | undefined
  readonly authenticator: Authenticator
  readonly #rules: ReadonlyMap<string, UserRules> | undefined
  readonly #byCertificate: ByCertificate
  readonly #tokens = new Map<string, UserInfo>()

  constructor(users: Readonly<Record<string, UserRules>> | undefined, byCertificate: ByCertificate = () => undefined) {
    this.#byCertificate = byCertificate
    this.#rules = users === undefined ? undefined : new Map(Object.entries(users))
    this.authorizer = this.#rules === undefined ? undefined : { authorize: (attributes) => this.#decide(attributes) }
    this.authenticator = { authenticate: (request) => this.#authenticate(request) }
  }

  /** @throws TestingError `UnknownUser` */
  named(user: string | UserInfo): UserInfo {
    if (typeof user !== 'string') return user
    if (this.#rules === undefined || this.#rules.has(user)) return { username: user, groups: ['system:authenticated'] }
    const known = [...this.#rules.keys()].join(', ')
    throw new TestingError({ code: 'UnknownUser', message: `the test has no user ${JSON.stringify(user)}, but ${known}` })
  }

  tokenOf(user: string | UserInfo): string {
    const info = this.named(user)
    for (const [token, known] of this.#tokens) if (JSON.stringify(known) === JSON.stringify(info)) return token
    const token = systemRandom.uuid()
    this.#tokens.set(token, info)
    return token
  }

  /** Who shows this certificate or header; nobody for one that was not given out. */
  identify({ headers, peer }: Caller): UserInfo | undefined {
    const known = this.#byCertificate(peer.certificates)
    if (known !== undefined) return known
    const header = typeof headers.authorization === 'string' ? headers.authorization : headers.authorization?.[0]
    if (header === undefined) return anonymous
    return /^bearer /i.test(header) ? this.#tokens.get(header.slice('bearer '.length).trim()) : undefined
  }

  #authenticate(request: Caller) {
    const user = this.identify(request)
    if (user === undefined) return { kind: 'rejected', reason: 'the test server gave no such token' } as const
    return { kind: 'authenticated', user } as const
  }

  #decide(attributes: Attributes) {
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

function allows(rule: UserRule, attributes: Attributes): boolean {
  const { verb, isResource, group, resource, subresource, namespace, name, path } = attributes
  const { apiGroups = [''], resources = [], resourceNames = [], namespaces = [], nonResourceURLs = [] } = rule
  if (!has(rule.verbs, verb)) return false
  if (!isResource) {
    return nonResourceURLs.some((url) => url === '*' || url === path || (url.endsWith('*') && path.startsWith(url.slice(0, -1))))
  }
  const whole = subresource === '' ? resource : `${resource}/${subresource}`
  const isNamed =
    has(resources, whole) ||
    (subresource !== '' && (resources.includes(`${resource}/*`) || resources.includes(`*/${subresource}`)))
  return (
    has(apiGroups, group) &&
    isNamed &&
    (resourceNames.length === 0 || resourceNames.includes(name)) &&
    (namespaces.length === 0 || has(namespaces, namespace))
  )
}

function has(list: readonly string[], value: string): boolean {
  return list.includes('*') || list.includes(value)
}
