import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock, Random } from '@krmkit/meta'
import { der, pemOf } from './der-writer.ts'

export interface CertificateRequest {
  readonly commonName?: string
  readonly organizations?: readonly string[]
  /** Values of the attribute that holds the uid of a user. */
  readonly uids?: readonly string[]
  /** What it may be used for. Default `client`; `any` says nothing about it. */
  readonly usage?: 'client' | 'server' | 'any'
  /** Names and addresses of a server. */
  readonly hosts?: readonly string[]
  /** Default: an hour before now. */
  readonly notBeforeMs?: number
  /** Default: a year from now. */
  readonly notAfterMs?: number
  /** Tags of ASN.1 and contents of texts of the subject, as `commonName` has them otherwise. */
  readonly rawNames?: readonly { readonly oid: string; readonly tag: number; readonly content: Uint8Array }[]
  /** More extensions in DER. */
  readonly rawExtensions?: readonly { readonly oid: string; readonly value: Uint8Array }[]
  /** An extension that nobody knows, and that must be understood. */
  readonly withUnknownCriticalExtension?: boolean
}

export interface IssuedCertificate {
  readonly certificate: string
  readonly key: string
  readonly der: Uint8Array
  /** What a connection with this certificate looks like to authenticators. */
  readonly peer: { readonly certificates: readonly Uint8Array[] }
}

/** An authority for tests. */
export interface CertificateAuthority {
  /** PEM of its own certificate. */
  readonly certificate: string
  issue(request?: CertificateRequest): IssuedCertificate
  /** An authority that this one vouches for; its certificates come with its own. */
  intermediate(request: AuthorityRequest): CertificateAuthority
}

export interface AuthorityRequest {
  readonly name: string
  /** How many authorities may stand below. Default: any number. */
  readonly pathLength?: number
  /** What those below may be used for. Default: anything. */
  readonly usage?: 'client' | 'server' | 'any'
  /** Whether it may issue at all. Default true. */
  readonly isAuthority?: boolean
}

interface Issuer {
  readonly name: Uint8Array
  readonly key: KeyObject
  /** DER of the certificates between the issuer and the root, the issuer's own first. */
  readonly chain: readonly Uint8Array[]
}

export interface AuthorityOptions {
  readonly name: string
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

const ecdsaWithSha256 = der.sequence(der.oid('1.2.840.10045.4.3.2'))
const hourMs = 3_600_000
const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  uid: '1.3.6.1.4.1.57683.2',
  client: '1.3.6.1.5.5.7.3.2',
  server: '1.3.6.1.5.5.7.3.1',
} as const

/** A certificate authority that lives on the clock of a test, with keys of its own. */
export function createCertificateAuthority(options: AuthorityOptions): CertificateAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf({ commonName: options.name })
  const issuer = { name, key: privateKey, chain: [] }
  const own = write(issuer, { subject: name, publicKey, extensions: authorityExtensions({ name: options.name }) }, options)
  return authorityOf(issuer, own, options)
}

function authorityOf(issuer: Issuer, own: Uint8Array, options: AuthorityOptions): CertificateAuthority {
  return {
    certificate: pemOf('CERTIFICATE', own),
    issue(request = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const made = write(
        issuer,
        { subject: nameOf(request), publicKey, extensions: leafExtensions(request), times: request },
        options,
      )
      const certificates = [made, ...issuer.chain]
      return {
        certificate: certificates.map((one) => pemOf('CERTIFICATE', one)).join(''),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
        der: made,
        peer: { certificates },
      }
    },
    intermediate(request) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const name = nameOf({ commonName: request.name })
      const made = write(issuer, { subject: name, publicKey, extensions: authorityExtensions(request) }, options)
      return authorityOf({ name, key: privateKey, chain: [made, ...issuer.chain] }, made, options)
    },
  }
}

function write(
  issuer: Issuer,
  what: {
    readonly subject: Uint8Array
    readonly publicKey: KeyObject
    readonly extensions: readonly Uint8Array[]
    readonly times?: Pick<CertificateRequest, 'notBeforeMs' | 'notAfterMs'>
  },
  { clock, random }: AuthorityOptions,
): Uint8Array {
  const { notBeforeMs = clock.now() - hourMs, notAfterMs = clock.now() + 365 * 24 * hourMs } = what.times ?? {}
  const serial = Uint8Array.from(random.bytes(8))
  serial[0] = (serial[0]! & 0x7f) | 0x01
  const body = der.sequence(
    der.explicit(0, der.integer(2)),
    der.integer(serial),
    ecdsaWithSha256,
    issuer.name,
    der.sequence(der.time(notBeforeMs), der.time(notAfterMs)),
    what.subject,
    what.publicKey.export({ type: 'spki', format: 'der' }),
    der.explicit(3, der.sequence(...what.extensions)),
  )
  return der.sequence(body, ecdsaWithSha256, der.bits(sign('sha256', body, issuer.key)))
}

function nameOf({ commonName, organizations = [], uids = [], rawNames = [] }: CertificateRequest): Uint8Array {
  const attribute = (oid: string, value: string) => der.set(der.sequence(der.oid(oid), der.text(value)))
  return der.sequence(
    ...organizations.map((name) => attribute(oids.organization, name)),
    ...rawNames.map(({ oid, tag, content }) => der.set(der.sequence(der.oid(oid), der.element(tag, content)))),
    ...uids.map((uid) => attribute(oids.uid, uid)),
    ...(commonName === undefined ? [] : [attribute(oids.commonName, commonName)]),
  )
}

function authorityExtensions({ pathLength, usage = 'any', isAuthority = true }: AuthorityRequest): Uint8Array[] {
  const basic = [...(isAuthority ? [der.boolean(true)] : []), ...(pathLength === undefined ? [] : [der.integer(pathLength)])]
  return [
    extension('2.5.29.19', der.sequence(...basic), true),
    ...(isAuthority ? [extension('2.5.29.15', der.bits(Uint8Array.of(0b0000_0110), 1), true)] : []),
    ...usageExtension(usage),
  ]
}

function leafExtensions({
  usage = 'client',
  hosts = [],
  withUnknownCriticalExtension,
  rawExtensions = [],
}: CertificateRequest): Uint8Array[] {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? der.implicit(7, Uint8Array.from(host.split('.').map(Number))) : der.implicit(2, Buffer.from(host)),
  )
  return [
    ...usageExtension(usage),
    ...rawExtensions.map(({ oid, value }) => extension(oid, value)),
    ...(names.length === 0 ? [] : [extension('2.5.29.17', der.sequence(...names))]),
    ...(withUnknownCriticalExtension === true ? [extension('1.3.6.1.4.1.57683.99', der.octets(new Uint8Array()), true)] : []),
  ]
}

function usageExtension(usage: 'client' | 'server' | 'any'): Uint8Array[] {
  return usage === 'any' ? [] : [extension('2.5.29.37', der.sequence(der.oid(oids[usage])))]
}

function extension(oid: string, value: Uint8Array, critical = false): Uint8Array {
  return der.sequence(der.oid(oid), ...(critical ? [der.boolean(true)] : []), der.octets(value))
}
