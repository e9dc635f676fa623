import type { Clock, Random } from '@krmkit/meta'
import { ensureAuthority } from './key-pair-store.ts'
import { parseSigningAuthority, type SigningAuthority } from './signing-authority.ts'

/**
 * The authority for client certificates that a server keeps for itself (`signing-ca.crt`, `signing-ca.key`), made when there is
 * none. It is another than the one behind the serving certificate: what it signs for one of its callers never passes for the
 * server itself.
 *
 * @throws CertificateError `StorageFailed`
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

/** An authority of this moment, kept nowhere: for tests and servers that forget. It lasts ten years. */
export async function createSigningAuthority({
  clock,
  random,
}: {
  readonly clock: Pick<Clock, 'now'>
  readonly random: Pick<Random, 'bytes'>
}): Promise<SigningAuthority> {
  const { issueAuthority } = await import('../self-signed.ts')
  const now = clock.now()
  const pair = await issueAuthority({
    commonName: `krmkit-signing-ca@${Math.floor(now / 1000)}`,
    notBefore: now - 3_600_000,
    notAfter: now + 3650 * 86_400_000,
    serial: random.bytes(16),
  })
  return parseSigningAuthority(pair)
}
