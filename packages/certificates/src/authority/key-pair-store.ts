import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { restrictToOwner, writePrivateFile } from '@krmkit/base/private-files'
import type { Random } from '@krmkit/meta'
import { CertificateError } from '../certificate-error.ts'
import { issueAuthority, type KeyPair } from './self-signed.ts'

/** Stores certificates and keys in a directory as `NAME.crt` and `NAME.key`. */

const dayMs = 86_400_000
/** Remaining validity below which a certificate is replaced at the next start. */
const renewBeforeMs = 30 * dayMs
const authorityLifeMs = 3650 * dayMs
const skewMs = 3_600_000

/**
 * Loads the authority `name` from `directory`, or creates one that is valid for ten years when none is usable.
 *
 * @throws CertificateError `StorageFailed`
 */
export async function ensureAuthority(
  directory: string,
  options: { readonly name: string; readonly commonName: string; readonly now: number; readonly random: Pick<Random, 'bytes'> },
): Promise<KeyPair> {
  const { name, now, random } = options
  const kept = await readKeyPair(directory, name)
  if (kept !== undefined && isUsableAuthority(kept, now)) return kept
  const pair = issueAuthority({
    commonName: `${options.commonName}@${Math.floor(now / 1000)}`,
    notBefore: now - skewMs,
    notAfter: now + authorityLifeMs,
    serial: random.bytes(16),
  })
  await writeKeyPair(directory, { name, pair })
  return pair
}

/**
 * Whether an authority is usable: a CA certificate within its validity, with the matching key. An interrupted write may leave a key that
 * does not match.
 *
 * @throws CertificateError `StorageFailed` when certificate or key cannot be parsed. Such an authority is not replaced, because clients
 *   trust it.
 */
export function isUsableAuthority(pair: KeyPair, now: number): boolean {
  let certificate: X509Certificate | undefined
  try {
    certificate = parseKeyPair(pair)
  } catch (cause) {
    const message = 'the stored certificate authority cannot be read; delete its files to create a new one'
    throw new CertificateError({ code: 'StorageFailed', message, cause })
  }
  return certificate?.ca === true && isCurrent(certificate, now)
}

/** Whether a certificate is valid now and for at least another 30 days. */
export function isCurrent(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) - renewBeforeMs > now
}

/** Parses the first certificate; undefined when it is malformed or the key does not match. */
export function readCertificate(pair: KeyPair): X509Certificate | undefined {
  try {
    return parseKeyPair(pair)
  } catch {
    return undefined
  }
}

function parseKeyPair(pair: KeyPair): X509Certificate | undefined {
  const certificate = new X509Certificate(pair.certificate)
  return certificate.checkPrivateKey(createPrivateKey(pair.key)) ? certificate : undefined
}

/** Reads a key pair; undefined when a file is missing. @throws CertificateError `StorageFailed` */
export async function readKeyPair(directory: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(join(directory, `${name}.crt`), 'utf8'),
      readFile(join(directory, `${name}.key`), 'utf8'),
    ])
    restrictToOwner(join(directory, `${name}.key`))
    return { certificate, key }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw storageFailed(`cannot read the certificate ${name} in ${directory}`, cause)
  }
}

/** Writes a key pair, each file atomically, the key first. @throws CertificateError `StorageFailed` */
export async function writeKeyPair(directory: string, options: { name: string; pair: KeyPair }): Promise<void> {
  const { name, pair } = options
  try {
    await writePrivateFile(join(directory, `${name}.key`), pair.key)
    await writePrivateFile(join(directory, `${name}.crt`), pair.certificate, { mode: 0o644 })
  } catch (cause) {
    throw storageFailed(`cannot write the certificate ${name} in ${directory}`, cause)
  }
}

function storageFailed(problem: string, cause: unknown): CertificateError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new CertificateError({ code: 'StorageFailed', message: `${problem}: ${why}`, cause })
}
