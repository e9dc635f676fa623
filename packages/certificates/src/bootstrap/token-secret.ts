import { base64Bytes, base64Text, utf8Bytes, utf8Text } from '@krmkit/base/bytes'
import { formatTime, type NamingProfile, parseTime, stockProfile } from '@krmkit/meta'
import { CertificateError } from '../certificate-error.ts'
import { type BootstrapToken, isBootstrapTokenId } from './token.ts'

/** A permitted use of a token. */
export type BootstrapTokenUsage = 'authentication' | 'signing'

export const bootstrapTokenUsages: readonly BootstrapTokenUsage[] = ['authentication', 'signing']

/** The fields of a Secret with a bootstrap token; values of `data` are base64. */
export interface BootstrapTokenSecret {
  readonly type?: string
  readonly metadata: { readonly name?: string; readonly deletionTimestamp?: string | null }
  readonly data?: Readonly<Record<string, string>>
}

/** Metadata of a new token. */
export interface BootstrapTokenDetails {
  readonly description?: string
  /** Expiry, in milliseconds since the epoch. Absent: the token never expires. */
  readonly expires?: number
  /** Default: both. */
  readonly usages?: readonly BootstrapTokenUsage[]
  /** Extra groups of the user; each starts with `system:bootstrappers:`. */
  readonly groups?: readonly string[]
}

/** A token with its metadata, for display. */
export interface BootstrapTokenRecord extends BootstrapToken {
  readonly description: string
  /** Milliseconds since the epoch, `never`, or `unreadable` for malformed text, which counts as expired. */
  readonly expires: number | 'never' | 'unreadable'
  /** Sorted; may contain usages other than `bootstrapTokenUsages`, which servers ignore. */
  readonly usages: readonly string[]
  readonly groups: readonly string[]
}

const namePrefix = 'bootstrap-token-'
const usagePrefix = 'usage-bootstrap-'
const groupForm = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/**
 * Name of the Secret of a token id.
 *
 * @example
 * ```ts
 * import { bootstrapSecretName } from '@krmkit/certificates/bootstrap'
 *
 * bootstrapSecretName('abcdef') // 'bootstrap-token-abcdef'
 * ```
 */
export function bootstrapSecretName(id: string): string {
  return `${namePrefix}${id}`
}

/**
 * Type of bootstrap token Secrets.
 *
 * @example
 * ```ts
 * import { bootstrapSecretType } from '@krmkit/certificates/bootstrap'
 * import { stockProfile } from '@krmkit/meta'
 *
 * bootstrapSecretType(stockProfile) // 'bootstrap.kubernetes.io/token'
 * ```
 */
export function bootstrapSecretType({ domain }: Pick<NamingProfile, 'domain'>): string {
  return `bootstrap.${domain}/token`
}

/**
 * Creates the Secret of a token.
 *
 * @throws CertificateError `InvalidToken` for groups that are not bootstrap groups, and for empty usages.
 * @see API protocol specification, 2.11
 * @example
 * ```ts
 * import { bootstrapTokenSecret } from '@krmkit/certificates/bootstrap'
 *
 * const token = { id: 'abcdef', secret: '0123456789abcdef' }
 * const secret = bootstrapTokenSecret(token, { usages: ['authentication'], expires: Date.now() + 3_600_000 })
 * secret.metadata // { name: 'bootstrap-token-abcdef', namespace: 'kube-system' }
 * ```
 */
export function bootstrapTokenSecret(
  token: BootstrapToken,
  details: BootstrapTokenDetails = {},
  profile: Pick<NamingProfile, 'domain' | 'systemNamespace'> = stockProfile,
) {
  const { description = '', expires, usages = bootstrapTokenUsages, groups = [] } = details
  const foreign = groups.find((group) => !isBootstrapGroup(group))
  if (foreign !== undefined) {
    const message = `the group ${JSON.stringify(foreign)} must start with system:bootstrappers: followed by characters of a-z, 0-9, colon and dash`
    throw new CertificateError({ code: 'InvalidToken', message })
  }
  if (usages.length === 0)
    throw new CertificateError({ code: 'InvalidToken', message: 'a bootstrap token needs at least one usage' })
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
    data: Object.fromEntries(texts.map(([key, text]) => [key, base64Text(utf8Bytes(text))])),
  }
}

/** Whether a group may be an extra group of a token. */
export function isBootstrapGroup(group: string): boolean {
  return groupForm.test(group)
}

/**
 * Reads the token of a Secret; undefined when the token is malformed or the name of the Secret does not match.
 *
 * @example
 * ```ts
 * import { bootstrapTokenSecret, readBootstrapToken } from '@krmkit/certificates/bootstrap'
 *
 * const secret = bootstrapTokenSecret({ id: 'abcdef', secret: '0123456789abcdef' }, { usages: ['signing'] })
 * readBootstrapToken(secret)?.usages // ['signing']
 * ```
 */
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
 * Remaining lifetime of a token, in milliseconds: 0 when the token is expired or its expiration is malformed, Infinity
 * without expiration.
 *
 * @example
 * ```ts
 * import { bootstrapTokenLifeMs, bootstrapTokenSecret } from '@krmkit/certificates/bootstrap'
 *
 * const now = Date.UTC(2025, 5, 1)
 * const secret = bootstrapTokenSecret({ id: 'abcdef', secret: '0123456789abcdef' }, { expires: now + 60_000 })
 * bootstrapTokenLifeMs(secret, now) // 60000
 * ```
 */
export function bootstrapTokenLifeMs(secret: BootstrapTokenSecret, now: number): number {
  const expires = expirationOf(secret)
  if (expires === 'never') return Number.POSITIVE_INFINITY
  return expires === 'unreadable' ? 0 : Math.max(0, expires - now)
}

/**
 * Returns the token of a Secret for signing cluster information; undefined when the token is expired, malformed, or lacks
 * the usage `signing`.
 *
 * @example
 * ```ts
 * import { bootstrapTokenSecret, signingTokenOf } from '@krmkit/certificates/bootstrap'
 *
 * const secret = bootstrapTokenSecret({ id: 'abcdef', secret: '0123456789abcdef' }, { usages: ['signing'] })
 * signingTokenOf(secret, Date.now()) // { id: 'abcdef', secret: '0123456789abcdef' }
 * ```
 */
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
  return Object.hasOwn(data, key) ? utf8Text(base64Bytes(data[key] ?? '')) : ''
}
