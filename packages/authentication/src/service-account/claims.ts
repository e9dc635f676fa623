import type { NamingProfile } from '@krmkit/meta'
import type { Claims } from '../jwt.ts'

/** Name and uid of an object in the claims. */
export interface ObjectClaim {
  readonly name: string
  readonly uid: string
}

/** The private claims of a bound token, under the member named after the domain of the profile. */
export interface BoundClaims {
  readonly namespace: string
  readonly serviceaccount: ObjectClaim
  readonly pod?: ObjectClaim
  readonly secret?: ObjectClaim
  readonly node?: ObjectClaim
  /** Time by which the holder should have refreshed the token, in seconds since the epoch. */
  readonly warnafter?: number
}

/** The private claims of a Secret-based token. */
export interface LegacyClaims {
  readonly namespace: string
  readonly secretName: string
  readonly accountName: string
  readonly accountUid: string
}

type Names = Pick<NamingProfile, 'domain' | 'vendor'>

/** The issuer of Secret-based tokens. */
export function legacyIssuer({ vendor }: Names): string {
  return `${vendor}/serviceaccount`
}

/** `system:serviceaccount:NAMESPACE:NAME` */
export function serviceAccountUsername(namespace: string, name: string): string {
  return `system:serviceaccount:${namespace}:${name}`
}

/** Reads the claims of a bound token; undefined when they are incomplete or contradict each other. */
export function readBoundClaims(claims: Claims, { domain }: Names): BoundClaims | undefined {
  const privateClaims = ownMember(claims, domain)
  if (typeof privateClaims !== 'object' || privateClaims === null) return undefined
  const namespace = ownMember(privateClaims, 'namespace')
  const serviceaccount = readObjectClaim(ownMember(privateClaims, 'serviceaccount'))
  if (typeof namespace !== 'string' || namespace === '' || serviceaccount === undefined) return undefined
  if (claims.sub !== serviceAccountUsername(namespace, serviceaccount.name)) return undefined
  const bound: { pod?: ObjectClaim; secret?: ObjectClaim; node?: ObjectClaim } = {}
  for (const kind of ['pod', 'secret', 'node'] as const) {
    const value = ownMember(privateClaims, kind)
    if (value === undefined) continue
    const claim = readObjectClaim(value, { mayLackUid: kind === 'node' && bound.pod !== undefined })
    if (claim === undefined) return undefined
    bound[kind] = claim
  }
  const warnafter = ownMember(privateClaims, 'warnafter')
  return { namespace, serviceaccount, ...bound, ...(typeof warnafter === 'number' ? { warnafter } : {}) }
}

/** Reads the claims of a Secret-based token; undefined when they are incomplete or contradict each other. */
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

/** Builds the claims of a Secret-based token. */
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
