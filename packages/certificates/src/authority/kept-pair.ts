import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Random } from '@krmkit/meta'
import { restrictToOwner, writePrivateFile } from '@krmkit/meta/private-files'
import { CertificateError } from '../certificate-error.ts'
import type { KeyPair } from '../self-signed.ts'

/** Certificates with their keys in a directory: `name.crt`, `name.key`. */

const dayMs = 86_400_000
/** A certificate with less than this left is made anew at the next start. */
const renewBeforeMs = 30 * dayMs
const authorityLifeMs = 3650 * dayMs
const skewMs = 3_600_000

/**
 * The authority kept in `directory` under `name`; made when there is none that is good, to last ten years.
 *
 * @throws CertificateError `StorageFailed`
 */
export async function keptAuthority(
  directory: string,
  options: { readonly name: string; readonly commonName: string; readonly now: number; readonly random: Pick<Random, 'bytes'> },
): Promise<KeyPair> {
  const { name, now, random } = options
  const kept = await readPair(directory, name)
  if (kept !== undefined && isGoodAuthority(kept, now)) return kept
  const { issueAuthority } = await import('../self-signed.ts')
  const pair = await issueAuthority({
    commonName: `${options.commonName}@${Math.floor(now / 1000)}`,
    notBefore: now - skewMs,
    notAfter: now + authorityLifeMs,
    serial: random.bytes(16),
  })
  await writePair(directory, { name, pair })
  return pair
}

/**
 * Whether the authority may go on: one that has ended, or whose key is another's after a write that was interrupted, may not.
 *
 * @throws CertificateError `StorageFailed` when certificate or key cannot be read. Such an authority is not replaced: others trust it.
 */
export function isGoodAuthority(pair: KeyPair, now: number): boolean {
  let certificate: X509Certificate | undefined
  try {
    certificate = parsePair(pair)
  } catch (cause) {
    const message = 'the kept certificate authority cannot be read; a new one is made when its files are missing'
    throw new CertificateError({ code: 'StorageFailed', message, cause })
  }
  return certificate?.ca === true && isTimely(certificate, now)
}

export function isTimely(certificate: X509Certificate, now: number): boolean {
  return Date.parse(certificate.validFrom) <= now && Date.parse(certificate.validTo) - renewBeforeMs > now
}

/** The first certificate of the file, when the key beside it is its own. */
export function readCertificate(pair: KeyPair): X509Certificate | undefined {
  try {
    return parsePair(pair)
  } catch {
    return undefined
  }
}

function parsePair(pair: KeyPair): X509Certificate | undefined {
  const certificate = new X509Certificate(pair.certificate)
  return certificate.checkPrivateKey(createPrivateKey(pair.key)) ? certificate : undefined
}

export async function readPair(directory: string, name: string): Promise<KeyPair | undefined> {
  try {
    const [certificate, key] = await Promise.all([
      readFile(join(directory, `${name}.crt`), 'utf8'),
      readFile(join(directory, `${name}.key`), 'utf8'),
    ])
    restrictToOwner(join(directory, `${name}.key`))
    return { certificate, key }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new CertificateError({ code: 'StorageFailed', message: `cannot read the certificate ${name} in ${directory}`, cause })
  }
}

/** Whole files appear under their names, never halves; the key comes first, as a certificate without its key is useless. */
export async function writePair(directory: string, options: { name: string; pair: KeyPair }): Promise<void> {
  const { name, pair } = options
  try {
    await writePrivateFile(join(directory, `${name}.key`), pair.key)
    await writePrivateFile(join(directory, `${name}.crt`), pair.certificate, { mode: 0o644 })
  } catch (cause) {
    throw new CertificateError({ code: 'StorageFailed', message: `cannot write the certificate ${name} in ${directory}`, cause })
  }
}
