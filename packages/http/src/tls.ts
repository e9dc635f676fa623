import { createSecureContext, type TlsOptions } from 'node:tls'
import { HttpError } from './http-error.ts'
import type { TlsFiles, TlsSelfSigned } from './interfaces.ts'

/** Returns the serving certificate; issues or loads it for `TlsSelfSigned`. */
export async function tlsFiles(tls: TlsFiles | TlsSelfSigned, host: string): Promise<TlsFiles> {
  if (!('directory' in tls)) return tls
  const { ensureServingCertificate } = await import('@krmkit/certificates')
  const hosts = isWildcard(host) ? tls.hosts : [...tls.hosts, host]
  const issued = await ensureServingCertificate(tls.directory, { ...tls, hosts })
  return {
    certificate: issued.certificate,
    key: issued.key,
    authority: issued.authority,
    ...(tls.clientCa === undefined ? {} : { clientCa: tls.clientCa }),
  }
}

/** Whether an address means all interfaces. */
export function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

/**
 * Options of the TLS server. Client certificates are requested but not required. Authenticators verify them, not the TLS server. Session
 * tickets are enabled, so that returning clients skip the full handshake.
 *
 * @throws HttpError `InvalidTls`
 */
export function tlsOptions(files: TlsFiles, handshakeTimeoutMs: number, ticketKeys?: Uint8Array): TlsOptions {
  const keys = { key: files.key, cert: files.certificate, ...(files.clientCa === undefined ? {} : { ca: files.clientCa }) }
  try {
    createSecureContext(keys)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new HttpError({
      code: 'InvalidTls',
      message: `invalid certificate, key or client authorities: ${reason}`,
      cause,
    })
  }
  return {
    ...keys,
    minVersion: 'TLSv1.2',
    honorCipherOrder: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeTimeoutMs,
    ...(ticketKeys === undefined ? {} : { ticketKeys: Buffer.from(ticketKeys) }),
    requestCert: files.clientCa !== undefined,
    rejectUnauthorized: false,
  }
}
