import type { NamingProfile } from '@krmkit/meta'
import type { Claims } from '../jwt.ts'

/** Name and uid of an object, as tokens hold them. */
export interface ObjectClaim {
  readonly name: string
  readonly uid: string
}

/** What a bound token says about its account, under the member named for the domain of the profile. */
export interface BoundClaims {
  readonly namespace: string
  readonly serviceaccount: ObjectClaim
  readonly pod?: ObjectClaim
  readonly secret?: ObjectClaim
  readonly node?: ObjectClaim
  /** Seconds since the epoch after which the holder should have asked for a new one. */
  readonly warnafter?: number
}

/** What a token out of a Secret says. */
export interface LegacyClaims {
  readonly namespace: string
  readonly secretName: string
  readonly accountName: string
  readonly accountUid: string
}

type Names = Pick<NamingProfile, 'domain' | 'vendor'>

/** The issuer that tokens out of Secrets name. */
export function legacyIssuer({ vendor }: Names): string {
  return `${vendor}/serviceaccount`
}

export function serviceAccountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** @returns undefined when the claims do not say what they must, or contradict each other. */
export function readBoundClaims(claims: Claims, { domain }: Names): BoundClaims | undefined {
  const own = ownMember(claims, domain)
  if (typeof own !== 'object' || own === null) return undefined
  const namespace = ownMember(own, 'namespace')
  const serviceaccount = readObjectClaim(ownMember(own, 'serviceaccount'))
  if (typeof namespace !== 'string' || namespace === '' || serviceaccount === undefined) return undefined
  if (claims.sub !== serviceAccountUsername(namespace, serviceaccount.name)) return undefined
  const others: { pod?: ObjectClaim; secret?: ObjectClaim; node?: ObjectClaim } = {}
  for (const kind of ['pod', 'secret', 'node'] as const) {
    const value = ownMember(own, kind)
    if (value === undefined) continue
    const claim = readObjectClaim(value, { mayLackUid: kind === 'node' && others.pod !== undefined })
    if (claim === undefined) return undefined
    others[kind] = claim
  }
  const warnafter = ownMember(own, 'warnafter')
  return { namespace, serviceaccount, ...others, ...(typeof warnafter === 'number' ? { warnafter } : {}) }
}

/** @returns undefined when the claims do not say what they must, or contradict each other. */
export function readLegacyClaims(claims: Claims, { domain }: Names): LegacyClaims | undefined {
  const text = (name: string) => {
    const value = ownMember(claims, `${domain}/serviceaccount/${name}`)
    return typeof value === 'string' ? value : ''
  }
  const read = {
    namespace: text('namespace'),
    secretName: text('secret.name'),
    accountName: text('service-account.name'),
    accountUid: text('service-account.uid'),
  }
  if (Object.values(read).includes('') || claims.sub !== serviceAccountUsername(read.namespace, read.accountName))
    return undefined
  return read
}

export function writeLegacyClaims({ namespace, secretName, accountName, accountUid }: LegacyClaims, names: Names): Claims {
  const prefix = `${names.domain}/serviceaccount`
  return {
    iss: legacyIssuer(names),
    [`${prefix}/namespace`]: namespace,
    [`${prefix}/secret.name`]: secretName,
    [`${prefix}/service-account.name`]: accountName,
    [`${prefix}/service-account.uid`]: accountUid,
    sub: serviceAccountUsername(namespace, accountName),
  }
}

function readObjectClaim(value: unknown, options: { readonly mayLackUid?: boolean } = {}): ObjectClaim | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const name = ownMember(value, 'name')
  const uid = ownMember(value, 'uid') ?? ''
  if (typeof name !== 'string' || name === '' || typeof uid !== 'string') return undefined
  return uid === '' && options.mayLackUid !== true ? undefined : { name, uid }
}

function ownMember(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined
}
