import { X509Certificate } from 'node:crypto'
import { type ClientRequest, Agent as HttpAgent } from 'node:http'
import { Agent } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls'
import { connectableHost } from '@krmkit/base/ip'
import { pemBlocks } from '@krmkit/base/pem'
import type { ProxyTarget, ServiceAddress, WebhookTarget } from '@krmkit/protocol'
import type { Destination } from './connection-error.ts'

/** Agents for outbound requests, with the limits and the certificate rules of Go's client. */

const idleMs = 90_000
const maxIdleConnections = 25
const pooling = { keepAlive: true, maxFreeSockets: maxIdleConnections, timeout: idleMs, noDelay: true }

/** Checks the certificates of a target. @throws Error worded as in kube-apiserver */
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
    // The bundle may contain the certificate of the server itself.
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

/**
 * Returns where to connect, and the name that the certificate must contain. The host is taken literally from the origin, because a URL
 * parser would convert texts such as `0177.0.0.1` to other addresses.
 *
 * @throws Error for a host that is neither an address nor a name
 */
export function destinationOf({ origin, serverName }: WebhookTarget, address: ServiceAddress | undefined): Destination {
  const [, bracketed, plain = '', ownPort] = /^https?:\/\/(?:\[([^\]]*)\]|([^/?#@:]*))(?::([0-9]*))?$/.exec(origin) ?? []
  const ownHost = bracketed ?? plain
  const port = Number(ownPort ?? '') || (isPlain(origin) ? 80 : 443)
  const stated = address ?? { host: ownHost, port }
  const host = connectableHost(stated.host.replace(/^\[|\]$/g, ''))
  if (host === undefined) throw new Error(`dial tcp: lookup ${stated.host}: no such host`)
  return { host, port: stated.port, name: serverName ?? connectableHost(ownHost) ?? ownHost }
}

/** Host and port of an origin as a `Host` header. */
export function hostOf(origin: string): string {
  return origin.slice(origin.indexOf('//') + 2)
}

/** Whether an origin is reached without TLS. */
export function isPlain(origin: string): boolean {
  return origin.startsWith('http://')
}

/** Whether a request failed because the server had closed the reused connection. */
export function isStaleConnection(request: ClientRequest, error: unknown): boolean {
  return request.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
}
