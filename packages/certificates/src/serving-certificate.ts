import { createPrivateKey, X509Certificate } from 'node:crypto'
import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { join } from 'node:path'
import type { Clock, NamingProfile, Random } from '@krmkit/meta'
import { CertificateError } from './certificate-error.ts'
import type { KeyPair } from './self-signed.ts'

/** What a server needs to speak TLS, and what its clients need to believe it; all PEM. */
export interface ServingCertificate {
  /** The server's certificate followed by that of its authority. */
  readonly certificate: string
  readonly key: string
  /** The authority to trust. */
  readonly authority: string
  /** False when the files that were there are still good. */
  readonly renewed: boolean
}

export interface ServingCertificateOptions {
  /** DNS names and IP addresses to answer under, besides those of `localHosts`. */
  readonly hosts?: readonly string[]
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
  readonly profile: Pick<NamingProfile, 'vendor'>
}

/** The names under which a server of this API is always reached: loopback, and the service inside a cluster. */
export function localHosts(profile: Pick<NamingProfile, 'vendor'>): readonly string[] {
  const service = profile.vendor
  const inside = [service, `${service}.default`, `${service}.default.svc`, `${service}.default.svc.cluster.local`]
  return ['localhost', ...inside, '127.0.0.1', '::1']
}

const dayMs = 86_400_000
const authorityLifeMs = 3650 * dayMs
const servingLifeMs = 365 * dayMs
/** A certificate with less than this left is made anew at the next start. */
const renewBeforeMs = 30 * dayMs
const skewMs = 3_600_000
const dnsName = /^(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_-]{0,62})(\.[A-Za-z0-9_]([A-Za-z0-9_-]{0,62}))*$/

/**
 * The serving certificate kept in `directory` (`apiserver.crt`, `apiserver.key`, `ca.crt`, `ca.key`; keys readable by the
 * owner alone). It is made when there is none, when it ends within 30 days, or when it does not name every host; the
 * authority is kept for as long as it is good, so that clients need not learn a new one.
 *
 * @throws CertificateError `StorageFailed`, `InvalidHost`.
 */
export async function servingCertificate(directory: string, options: ServingCertificateOptions): Promise<ServingCertificate> {
  const hosts = [...new Set([...localHosts(options.profile), ...(options.hosts ?? [])])]
  for (const host of hosts) {
    if (host.length <= 253 && (isIP(host) !== 0 || dnsName.test(host))) continue
    throw new CertificateError({
      code: 'InvalidHost',
      message: `${JSON.stringify(host)} is neither a DNS name nor an IP address`,
    })
  }
  const now = options.clock.now()
  const kept = await readPair(directory, 'ca')
  const authority = kept !== undefined && isGoodAuthority(kept, now) ? kept : undefined
  const serving = authority && (await readPair(directory, 'apiserver'))
  if (authority && serving && isGoodServing(serving, { authority, hosts, now })) {
    return { certificate: serving.certificate, key: serving.key, authority: authority.certificate, renewed: false }
  }
  return renew(directory, { authority, hosts, now, random: options.random })
}

async function renew(
  directory: string,
  options: { authority: KeyPair | undefined; hosts: readonly string[]; now: number; random: Pick<Random, 'bytes'> },
): Promise<ServingCertificate> {
  const { issueAuthority, issueServing } = await import('./self-signed.ts')
  const { now, random, hosts } = options
  const notBefore = now - skewMs
  let { authority } = options
  if (authority === undefined) {
    const commonName = `krmkit-ca@${Math.floor(now / 1000)}`
    authority = await issueAuthority({ commonName, notBefore, notAfter: now + authorityLifeMs, serial: random.bytes(16) })
    await writePair(directory, { name: 'ca', pair: authority })
  }
  const end = Math.min(now + servingLifeMs, Date.parse(new X509Certificate(authority.certificate).validTo))
  const issued = await issueServing(authority, {
    commonName: 'kube-apiserver',
    notBefore,
    notAfter: end,
    serial: random.bytes(16),
    hosts,
  })
  const pair = { key: issued.key, certificate: issued.certificate + authority.certificate }
  await writePair(directory, { name: 'apiserver', pair })
  return { ...pair, authority: authority.certificate, renewed: true }
}

function isGoodAuthority(pair: KeyPair, now: number): boolean {
  const certificate = readCertificate(pair)
  return certificate?.ca === true && isTimely(certificate, now)
}

function isGoodServing(pair: KeyPair, options: { authority: KeyPair; hosts: readonly string[]; now: number }): boolean {
  const certificate = readCertificate(pair)
  if (certificate === undefined || !isTimely(certificate, options.now)) return false
  const authority = new X509Certificate(options.authority.certificate)
  if (!certificate.checkIssued(authority) || !certificate.verify(authority.publicKey)) return false
  return options.hosts.every((host) =>
    isIP(host) === 0 ? certificate.checkHost(host, { subject: 'never' }) !== undefined : certificate.checkIP(host) !== undefined,
  )
}

function isTimely(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) - renewBeforeMs > now
}

/** The first certificate of the file, when the key beside it is its own. */
function readCertificate(pair: KeyPair): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(pair.certificate)
    return certificate.checkPrivateKey(createPrivateKey(pair.key)) ? certificate : undefined
  } catch {
    return undefined
  }
}

async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(join(directory, `${name}.crt`), 'utf8'),
      readFile(join(directory, `${name}.key`), 'utf8'),
    ])
    return { certificate, key }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CertificateError({ code: 'StorageFailed', message: `cannot read the certificate ${name} in ${directory}`, cause })
  }
}

/** Whole files appear under their names, never halves; the key comes first, as a certificate without its key is useless. */
async function writePair(directory: string, options: { name: string; pair: KeyPair }): Promise<void> {
  const { name, pair } = options
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    await writeWhole(join(directory, `${name}.key`), { text: pair.key, mode: 0o600 })
    await writeWhole(join(directory, `${name}.crt`), { text: pair.certificate, mode: 0o644 })
  } catch (cause) {
    throw new CertificateError({ code: 'StorageFailed', message: `cannot write the certificate ${name} in ${directory}`, cause })
  }
}

async function writeWhole(path: string, options: { text: string; mode: number }): Promise<void> {
  const draft = `${path}.new`
  await writeFile(draft, options.text, { mode: options.mode })
  await chmod(draft, options.mode)
  await rename(draft, path)
}
