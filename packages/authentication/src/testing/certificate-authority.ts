import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { isIP } from 'node:net'
import {
  ascii,
  bitString,
  boolean,
  der,
  explicit,
  integer,
  namedBits,
  octetString,
  oid,
  sequence,
  setOf,
  tags,
  time,
  writePem,
} from '@krmkit/base/der'
import type { Clock, Random } from '@krmkit/meta'

export interface TestCertificateOptions {
  readonly commonName?: string
  readonly organizations?: readonly string[]
  /** Values of the uid attribute of the subject. */
  readonly uids?: readonly string[]
  /** Extended key usage. Default `client`; `any` omits the extension. */
  readonly usage?: 'client' | 'server' | 'any'
  /** DNS names and IPv4 addresses for subjectAltName. */
  readonly hosts?: readonly string[]
  /** Milliseconds since the epoch. Default: one hour ago. */
  readonly notBeforeMs?: number
  /** Milliseconds since the epoch. Default: one year from now. */
  readonly notAfterMs?: number
  /** Subject attributes with arbitrary ASN.1 tags and contents. */
  readonly rawNames?: readonly { readonly oid: string; readonly tag: number; readonly content: Uint8Array }[]
  /** Additional extensions; values are DER. */
  readonly rawExtensions?: readonly { readonly oid: string; readonly value: Uint8Array }[]
  /** Adds an unknown critical extension. */
  readonly withUnknownCriticalExtension?: boolean
}

export interface IssuedCertificate {
  readonly certificate: string
  readonly key: string
  readonly der: Uint8Array
  /** `peer` of a request on a connection with this certificate. */
  readonly peer: { readonly certificates: readonly Uint8Array[] }
}

/** A certificate authority for tests. */
export interface CertificateAuthority {
  /** PEM of the CA certificate. */
  readonly certificate: string
  issue(request?: TestCertificateOptions): IssuedCertificate
  /** Issues an intermediate authority, whose certificates include the chain. */
  intermediate(request: AuthorityRequest): CertificateAuthority
}

export interface AuthorityRequest {
  readonly name: string
  /** Path length constraint. Default: none. */
  readonly pathLength?: number
  /** Extended key usage of the authority. Default `any`. */
  readonly usage?: 'client' | 'server' | 'any'
  /** Whether it is a CA certificate (`CA:TRUE`). Default true. */
  readonly isAuthority?: boolean
}

interface Issuer {
  readonly name: Uint8Array
  readonly key: KeyObject
  /** DER of the certificates from the issuer up to, but excluding, the root; the certificate of the issuer comes first. */
  readonly chain: readonly Uint8Array[]
}

export interface AuthorityOptions {
  readonly name: string
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}

const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
const hourMs = 3_600_000
const dnsNameTag = 0x82
const ipAddressTag = 0x87
const oids = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  uid: '1.3.6.1.4.1.57683.2',
  client: '1.3.6.1.5.5.7.3.2',
  server: '1.3.6.1.5.5.7.3.1',
} as const

/**
 * Creates a certificate authority with a new key, using the clock of the test.
 *
 * @example
 * ```ts
 * import { createCertificateAuthority } from '@krmkit/authentication/testing'
 * import { fakeClock, seededRandom } from '@krmkit/meta'
 *
 * const clock = fakeClock(Date.UTC(2025, 0, 1))
 * const authority = createCertificateAuthority({ name: 'test', clock, random: seededRandom(1) })
 * const { certificate, key, peer } = authority.issue({ commonName: 'jane', organizations: ['dev'] })
 * ```
 */
export function createCertificateAuthority(options: AuthorityOptions): CertificateAuthority {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const name = nameOf({ commonName: options.name })
  const issuer = { name, key: privateKey, chain: [] }
  const own = write(issuer, { subject: name, publicKey, extensions: authorityExtensions({ name: options.name }) }, options)
  return authorityOf(issuer, own, options)
}

function authorityOf(issuer: Issuer, own: Uint8Array, options: AuthorityOptions): CertificateAuthority {
  return {
    certificate: writePem('CERTIFICATE', own),
    issue(request = {}) {
      const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const made = write(
        issuer,
        { subject: nameOf(request), publicKey, extensions: leafExtensions(request), times: request },
        options,
      )
      const certificates = [made, ...issuer.chain]
      return {
        certificate: certificates.map((one) => writePem('CERTIFICATE', one)).join(''),
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
    readonly times?: Pick<TestCertificateOptions, 'notBeforeMs' | 'notAfterMs'>
  },
  { clock, random }: AuthorityOptions,
): Uint8Array {
  const { notBeforeMs = clock.now() - hourMs, notAfterMs = clock.now() + 365 * 24 * hourMs } = what.times ?? {}
  const serial = Uint8Array.from(random.bytes(8))
  serial[0] = (serial[0]! & 0x7f) | 0x01
  const body = sequence(
    explicit(0, integer(2)),
    integer(serial),
    ecdsaWithSha256,
    issuer.name,
    sequence(time(notBeforeMs), time(notAfterMs)),
    what.subject,
    what.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...what.extensions)),
  )
  return sequence(body, ecdsaWithSha256, bitString(sign('sha256', body, issuer.key)))
}

function nameOf({ commonName, organizations = [], uids = [], rawNames = [] }: TestCertificateOptions): Uint8Array {
  const attribute = (type: string, value: string) => setOf(sequence(oid(type), der(tags.utf8String, Buffer.from(value))))
  return sequence(
    ...organizations.map((name) => attribute(oids.organization, name)),
    ...rawNames.map(({ oid: type, tag, content }) => setOf(sequence(oid(type), der(tag, content)))),
    ...uids.map((uid) => attribute(oids.uid, uid)),
    ...(commonName === undefined ? [] : [attribute(oids.commonName, commonName)]),
  )
}

function authorityExtensions({ pathLength, usage = 'any', isAuthority = true }: AuthorityRequest): Uint8Array[] {
  const basic = [...(isAuthority ? [boolean(true)] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])]
  return [
    extension('2.5.29.19', sequence(...basic), true),
    ...(isAuthority ? [extension('2.5.29.15', namedBits([5, 6]), true)] : []),
    ...usageExtension(usage),
  ]
}

function leafExtensions({
  usage = 'client',
  hosts = [],
  withUnknownCriticalExtension,
  rawExtensions = [],
}: TestCertificateOptions): Uint8Array[] {
  const names = hosts.map((host) =>
    isIP(host) === 4 ? der(ipAddressTag, Uint8Array.from(host.split('.').map(Number))) : ascii(dnsNameTag, host),
  )
  return [
    ...usageExtension(usage),
    ...rawExtensions.map(({ oid: type, value }) => extension(type, value)),
    ...(names.length === 0 ? [] : [extension('2.5.29.17', sequence(...names))]),
    ...(withUnknownCriticalExtension === true ? [extension('1.3.6.1.4.1.57683.99', octetString(new Uint8Array()), true)] : []),
  ]
}

function usageExtension(usage: 'client' | 'server' | 'any'): Uint8Array[] {
  return usage === 'any' ? [] : [extension('2.5.29.37', sequence(oid(oids[usage])))]
}

function extension(type: string, value: Uint8Array, critical = false): Uint8Array {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value))
}
