import type { Clock, Random } from '@krmkit/meta'
import { ensureAuthority } from './key-pair-store.ts'
import { issueAuthority } from './self-signed.ts'
import { parseSigningAuthority, type SigningAuthority } from './signing-authority.ts'

/**
 * Loads the authority for client certificates from `directory` (`signing-ca.crt`, `signing-ca.key`), or creates it. It differs from the
 * authority of the serving certificate, so that no certificate issued to a client authenticates the server.
 *
 * @throws CertificateError `StorageFailed`
 * @example
 * ```ts
 * import { ensureSigningAuthority } from '@krmkit/certificates'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const authority = await ensureSigningAuthority('.krmkit/pki', { clock: systemClock, random: systemRandom })
 * ```
 */
export async function ensureSigningAuthority(
  directory: string,
  { clock, random }: { readonly clock: Pick<Clock, 'now'>; readonly random: Pick<Random, 'bytes'> },
): Promise<SigningAuthority> {
  const name = 'signing-ca'
  return parseSigningAuthority(
    await ensureAuthority(directory, { name, commonName: 'krmkit-signing-ca', now: clock.now(), random }),
  )
}

/**
 * Creates an authority in memory that is valid for ten years, for tests and ephemeral servers.
 *
 * @example
 * ```ts
 * import { createSigningAuthority } from '@krmkit/certificates'
 * import { systemClock, systemRandom } from '@krmkit/meta'
 *
 * const authority = await createSigningAuthority({ clock: systemClock, random: systemRandom })
 * authority.certificate.startsWith('-----BEGIN CERTIFICATE-----') // true
 * ```
 */
export async function createSigningAuthority({
  clock,
  random,
}: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}): Promise<SigningAuthority> {
  const now = clock.now()
  const pair = issueAuthority({
    commonName: `krmkit-signing-ca@${Math.floor(now / 1000)}`,
    notBefore: now - 3_600_000,
    notAfter: now + 3650 * 86_400_000,
    serial: random.bytes(16),
  })
  return parseSigningAuthority(pair)
}
