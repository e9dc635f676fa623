import { X509Certificate } from 'node:crypto'
import { isIP } from 'node:net'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import {
  ensureAuthority,
  isCurrent,
  isUsableAuthority,
  readCertificate,
  readKeyPair,
  writeKeyPair,
} from './authority/key-pair-store.ts'
import { issueServing, type KeyPair } from './authority/self-signed.ts'
import { CertificateError } from './certificate-error.ts'

/** Serving certificate and key of a server, with the authority that clients trust, all as PEM. */
export interface ServingCertificate {
  /** The serving certificate followed by the CA certificate. */
  readonly certificate: string
  readonly key: string
  /** The CA certificate. */
  readonly authority: string
  /** Whether new files were written. */
  readonly renewed: boolean
}

export interface ServingCertificateOptions {
  /** DNS names and IP addresses of the server, in addition to `defaultServingHosts`. */
  readonly hosts?: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'vendor'>
}

/** The default hosts of an API server: loopback, and the names of the service inside a cluster. */
export function defaultServingHosts(profile: Pick<NamingProfile, 'vendor'>): readonly string[] {
  const service = profile.vendor
  const inside = [service, `${service}.default`, `${service}.default.svc`, `${service}.default.svc.cluster.local`]
  return ['localhost', ...inside, '127.0.0.1', '::1']
}

const dayMs = 86_400_000
const servingLifeMs = 365 * dayMs
const skewMs = 3_600_000
const dnsName = /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*$/

/**
 * Loads the serving certificate from `directory` (`apiserver.crt`, `apiserver.key`, `ca.crt`, `ca.key`; keys are readable
 * only by the owner). A new one is created when none exists, when it expires within 30 days, or when it lacks a host. The
 * authority is reused while it is valid, so that clients keep trusting it.
 *
 * @throws CertificateError `StorageFailed`, `InvalidHost`
 * @example
 * ```ts
 * import { createServer } from 'node:https'
 * import { ensureServingCertificate } from '@krmkit/certificates'
 * import { stockProfile, systemClock, systemRandom } from '@krmkit/meta'
 *
 * const options = { hosts: ['api.example.com'], clock: systemClock, random: systemRandom, profile: stockProfile }
 * const { certificate, key } = await ensureServingCertificate('.krmkit/pki', options)
 * const server = createServer({ cert: certificate, key })
 * ```
 */
export async function ensureServingCertificate(
  directory: string,
  options: ServingCertificateOptions,
): Promise<ServingCertificate> {
  const hosts = [...new Set([...defaultServingHosts(options.profile), ...(options.hosts ?? [])])]
  for (const host of hosts) {
    if (host.length <= 253 && (isIP(host) !== 0 || dnsName.test(host))) continue
    throw new CertificateError({
      code: 'InvalidHost',
      message: `${JSON.stringify(host)} is neither a DNS name nor an IP address`,
    })
  }
  const now = options.clock.now()
  const kept = await readKeyPair(directory, 'ca')
  const authority = kept !== undefined && isUsableAuthority(kept, now) ? kept : undefined
  const serving = authority && (await readKeyPair(directory, 'apiserver'))
  if (authority && serving && isUsableServingCertificate(serving, { authority, hosts, now })) {
    return { certificate: serving.certificate, key: serving.key, authority: authority.certificate, renewed: false }
  }
  return renew(directory, { authority, hosts, now, random: options.random })
}

async function renew(
  directory: string,
  options: { authority: KeyPair | undefined; hosts: readonly string[]; now: number; random: Pick<Random, 'bytes'> },
): Promise<ServingCertificate> {
  const { now, random, hosts } = options
  const notBefore = now - skewMs
  const authority = options.authority ?? (await ensureAuthority(directory, { name: 'ca', commonName: 'krmkit-ca', now, random }))
  const end = Math.min(now + servingLifeMs, Date.parse(new X509Certificate(authority.certificate).validTo))
  const issued = issueServing(authority, {
    commonName: 'kube-apiserver',
    notBefore,
    notAfter: end,
    serial: random.bytes(16),
    hosts,
  })
  const pair = { key: issued.key, certificate: issued.certificate + authority.certificate }
  await writeKeyPair(directory, { name: 'apiserver', pair })
  return { ...pair, authority: authority.certificate, renewed: true }
}

function isUsableServingCertificate(
  pair: KeyPair,
  options: { authority: KeyPair; hosts: readonly string[]; now: number },
): boolean {
  const certificate = readCertificate(pair)
  if (certificate === undefined || !isCurrent(certificate, options.now)) return false
  const authority = new X509Certificate(options.authority.certificate)
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return false
  return options.hosts.every((host) =>
    isIP(host) === 0 ? certificate.checkHost(host, { subject: 'never' }) !== undefined : certificate.checkIP(host) !== undefined,
  )
}
