import { formatTime, type NamingProfile, parseTime, stockProfile } from '@krmkit/meta'
import { CertificateError } from '../certificate-error.ts'
import { type BootstrapToken, isBootstrapTokenId } from './token.ts'

/** What a token may be used for. */
export type BootstrapTokenUsage = 'authentication' | 'signing'

export const bootstrapTokenUsages: readonly BootstrapTokenUsage[] = ['authentication', 'signing']

/** As much of a Secret as tells of a token: data in base64, as objects hold it. */
export interface BootstrapTokenSecret {
  readonly type?: string
  readonly metadata: { readonly name?: string }
  readonly data?: Readonly<Record<string, string>>
}

export interface BootstrapTokenDetails {
  readonly description?: string
  /** Milliseconds since the epoch; absent: never. */
  readonly expires?: number
  /** Default: both. */
  readonly usages?: readonly BootstrapTokenUsage[]
  /** Groups of the bearer beside `system:bootstrappers`; each begins with `system:bootstrappers:`. */
  readonly groups?: readonly string[]
}

/** What a Secret says of its token, for people. */
export interface BootstrapTokenRecord extends BootstrapToken {
  readonly description: string
  /** Milliseconds since the epoch; `never`; `unreadable`, which counts as expired. */
  readonly expires: number | 'never' | 'unreadable'
  /** Sorted. A server knows those of `bootstrapTokenUsages`; others are told as they are. */
  readonly usages: readonly string[]
  readonly groups: readonly string[]
}

const namePrefix = 'bootstrap-token-'
const usagePrefix = 'usage-bootstrap-'
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** Name of the Secret that holds a token. */
export function bootstrapSecretName(id: string): string {
  return `${namePrefix}${id}`
}

/** Type of such Secrets. */
export function bootstrapSecretType({ domain }: Pick<NamingProfile, 'domain'>): string {
  return `bootstrap.${domain}/token`
}

/**
 * The Secret that makes a token known to a server.
 *
 * @throws CertificateError `InvalidToken` for groups that tokens cannot give, and for no use at all.
 * @see API protocol specification, 2.11
 */
export function bootstrapTokenSecret(
  token: BootstrapToken,
  details: BootstrapTokenDetails = {},
  profile: Pick<NamingProfile, 'domain' | 'systemNamespace'> = stockProfile,
) {
  const { description = '', expires, usages = bootstrapTokenUsages, groups = [] } = details
  const foreign = groups.find((group) => !isBootstrapGroup(group))
  if (foreign !== undefined) {
    const message = `the group ${JSON.stringify(foreign)} must begin with system:bootstrappers: and go on with characters of a-z, 0-9, colon and dash`
    throw new CertificateError({ code: 'InvalidToken', message })
  }
  if (usages.length === 0) throw new CertificateError({ code: 'InvalidToken', message: 'a token without any use is of no use' })
  const texts: [string, string][] = [
    ['token-id', token.id],
    ['token-secret', token.secret],
    ...(description === '' ? [] : [['description', description] satisfies [string, string]]),
    ...(expires === undefined ? [] : [['expiration', formatTime(expires)] satisfies [string, string]]),
    ...usages.map((usage): [string, string] => [`${usagePrefix}${usage}`, 'true']),
    ...(groups.length === 0 ? [] : [['auth-extra-groups', groups.join(',')] satisfies [string, string]]),
  ]
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: bootstrapSecretName(token.id), namespace: profile.systemNamespace },
    type: bootstrapSecretType(profile),
    data: Object.fromEntries(texts.map(([key, text]) => [key, Buffer.from(text).toString('base64')])),
  }
}

/** Whether tokens may put their bearers into a group. */
export function isBootstrapGroup(group: string): boolean {
  return groupForm.test(group)
}

/** The token of a Secret and what is said of it; undefined when the Secret holds none, or that of another name. */
export function readBootstrapToken(secret: BootstrapTokenSecret): BootstrapTokenRecord | undefined {
  const token = tokenIn(secret)
  if (token === undefined) return undefined
  const usages = Object.keys(secret.data ?? {})
    .filter((key) => key.startsWith(usagePrefix) && textOf(secret, key) === 'true')
    .map((key) => key.slice(usagePrefix.length))
  const groups = textOf(secret, 'auth-extra-groups')
  return {
    ...token,
    description: textOf(secret, 'description'),
    expires: expirationOf(secret),
    usages: usages.sort(),
    groups: groups === '' ? [] : groups.split(','),
  }
}

/**
 * Milliseconds that the token of a Secret has left: 0 when it has expired or when that cannot be read, infinitely many
 * without an end.
 */
export function bootstrapTokenLifeMs(secret: BootstrapTokenSecret, now: number): number {
  const expires = expirationOf(secret)
  if (expires === 'never') return Number.POSITIVE_INFINITY
  return expires === 'unreadable' ? 0 : Math.max(0, expires - now)
}

/** The token with which a Secret has cluster information signed; undefined when it is for other uses, expired or malformed. */
export function signingTokenOf(secret: BootstrapTokenSecret, now: number): BootstrapToken | undefined {
  if (textOf(secret, 'usage-bootstrap-signing') !== 'true' || bootstrapTokenLifeMs(secret, now) === 0) return undefined
  return tokenIn(secret)
}

function tokenIn(secret: BootstrapTokenSecret): BootstrapToken | undefined {
  const { name = '' } = secret.metadata
  const id = name.startsWith(namePrefix) ? name.slice(namePrefix.length) : ''
  const text = textOf(secret, 'token-secret')
  if (!isBootstrapTokenId(id) || textOf(secret, 'token-id') !== id || text === '') return undefined
  return { id, secret: text }
}

function expirationOf(secret: BootstrapTokenSecret): number | 'never' | 'unreadable' {
  const text = textOf(secret, 'expiration')
  if (text === '') return 'never'
  try {
    return parseTime(text)
  } catch {
    return 'unreadable'
  }
}

function textOf({ data = {} }: BootstrapTokenSecret, key: string): string {
  return Object.hasOwn(data, key) ? Buffer.from(data[key] ?? '', 'base64').toString('utf8') : ''
}
