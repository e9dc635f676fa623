import { X509Certificate } from 'node:crypto'
import { type ClientRequest, Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls'
import { pemBlocks } from '@krmkit/meta/pem'
import type { ProxyTarget, ServiceAddress, WebhookTarget } from '@krmkit/protocol'
import type { Destination } from './connection-error.ts'

/** Agents for outbound requests, with the limits and the certificate rules of Go's client. */

const idleMs = 90_000
const maxIdleConnections = 25
const pooling = { keepAlive: true, maxFreeSockets: maxIdleConnections, timeout: idleMs, noDelay: true }

/** Checks the certificates of a target. @throws Error worded as in the stock server */
export function validateTarget({ ca, certificate, key }: WebhookTarget): void {
  if (ca !== undefined) {
    const blocks = authoritiesIn(ca)
    if (blocks.length === 0) throw new Error('unable to load root certificates: unable to parse bytes as PEM block')
    for (const block of blocks) {
      try {
        new X509Certificate(block)
      } catch {
        throw new Error('unable to load root certificates: failed to parse certificate')
      }
    }
  }
  try {
    if (certificate !== undefined && key !== undefined) createSecureContext({ cert: certificate, key })
  } catch (error) {
    throw new Error(`tls: the client certificate cannot be used: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Returns no certificates for a bundle with a malformed block. */
function authoritiesIn(bundle: string): readonly string[] {
  try {
    return pemBlocks(bundle, 'CERTIFICATE')
  } catch {
    return []
  }
}

/** Creates an agent that keeps connections without TLS to one target. */
export function createPlainAgent(): HttpAgent {
  return new HttpAgent(pooling)
}

/** Creates an agent that keeps connections to one target. */
export function createAgent({ ca, certificate, key, insecure }: ProxyTarget): Agent {
  return new Agent({
    ...pooling,
    minVersion: 'TLSv1.2',
    // A bundle may hold the certificate of the server itself.
    allowPartialTrustChain: true,
    checkServerIdentity: checkSubjectAltNames,
    ...(insecure === true ? { rejectUnauthorized: false, checkServerIdentity: () => undefined } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
}

/** Accepts only subject alternative names, as in Go, never the common name. */
function checkSubjectAltNames(host: string, certificate: PeerCertificate): Error | undefined {
  const names = certificate.subjectaltname ?? ''
  const hasUsableName = isIP(host) === 0 ? /(?:^|, )DNS:/.test(names) : /(?:^|, )IP Address:/.test(names)
  if (hasUsableName) return checkServerIdentity(host, certificate)
  return Object.assign(new Error('the certificate has no subject alternative names of this kind'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    cert: certificate,
    host,
  })
}

/** Returns where to connect and the name that the certificate must carry. */
export function destinationOf({ origin, serverName }: WebhookTarget, address: ServiceAddress | undefined): Destination {
  const url = new URL(origin)
  const ownHost = url.hostname.replace(/^\[|\]$/g, '')
  const { host, port } = address ?? { host: ownHost, port: url.port === '' ? (isPlain(origin) ? 80 : 443) : Number(url.port) }
  return { host: host.replace(/^\[|\]$/g, ''), port, name: serverName ?? ownHost }
}

/** Whether an origin is reached without TLS. */
export function isPlain(origin: string): boolean {
  return origin.startsWith('http://')
}

/** Whether a request failed because the server had closed the kept connection meanwhile. */
export function isStaleConnection(request: ClientRequest, error: unknown): boolean {
  return request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
}
