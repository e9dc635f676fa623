import { createSecureContext, type TlsOptions } from 'node:tls'
import { HttpError } from './http-error.ts'
import type { TlsFiles, TlsSelfSigned } from './interfaces.ts'

/** The certificate to serve with; made when it is ours to make. */
export async function tlsFiles(tls: TlsFiles | TlsSelfSigned, host: string): Promise<TlsFiles> {
  if (!('directory' in tls)) return tls
  const { ensureServingCertificate } = await import('@krmkit/certificates')
  const hosts = isWildcard(host) ? tls.hosts : [...tls.hosts, host]
  const made = await ensureServingCertificate(tls.directory, { ...tls, hosts })
  return {
    certificate: made.certificate,
    key: made.key,
    authority: made.authority,
    ...(tls.clientCa === undefined ? {} : { clientCa: tls.clientCa }),
  }
}

/** Whether an address stands for every interface. */
export function isWildcard(host: string): boolean {
  return host === '' || host === '0.0.0.0' || host === '::'
}

/**
 * Options of the TLS server. A client certificate is asked for, never demanded, and not judged here: that is the business
 * of the authenticators. Session tickets are on, so that a client that comes back saves a round of signatures.
 *
 * @throws HttpError `InvalidTls`.
 */
export function tlsOptions(files: TlsFiles, handshakeTimeoutMs: number): TlsOptions {
  const keys = { key: files.key, cert: files.certificate, ...(files.clientCa === undefined ? {} : { ca: files.clientCa }) }
  try {
    createSecureContext(keys)
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause)
    throw new HttpError({
      code: 'InvalidTls',
      message: `certificate, key or client authorities cannot be used: ${reason}`,
      cause,
    })
  }
  return {
    ...keys,
    minVersion: 'TLSv1.2',
    honorCipherOrder: true,
    ALPNProtocols: ['h2', 'http/1.1'],
    handshakeTimeout: handshakeTimeoutMs,
    requestCert: files.clientCa !== undefined,
    rejectUnauthorized: false,
  }
}
