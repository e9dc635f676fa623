import { X509Certificate } from 'node:crypto'
import type { ClientRequest, IncomingMessage } from 'node:http'
import { Agent, request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { checkServerIdentity, createSecureContext, type PeerCertificate } from 'node:tls'
import type { SendToWebhook, WebhookRequest, WebhookResponse, WebhookTarget, WebhookTransport } from '@krmkit/admission'
import { pemBlocks } from '@krmkit/meta'
import { connectionFailure } from './connection-failure.ts'

/** As Go's client keeps them. */
const idleMs = 90_000
const maxIdleConnections = 25
const maxAgents = 256

/**
 * Reaches admission webhooks over HTTPS. Connections are kept and shared by all webhooks with the same host, authorities and
 * client certificate; one that the other side closed just as it was used again is replaced, once.
 */
export function webhookTransport(): WebhookTransport & Disposable {
  const agents = new Map<string, Agent>()
  const open = new Set<ClientRequest>()
  const agentOf = (target: WebhookTarget): Agent => {
    const { origin, ca, certificate, key, serverName } = target
    const name = JSON.stringify([origin, ca, certificate, key, serverName])
    let agent = agents.get(name)
    if (agent === undefined) {
      agent = newAgent(target)
      // The least recently opened goes; what it holds is closed when it has been idle.
      const [oldest] = agents.keys()
      if (agents.size >= maxAgents && oldest !== undefined) agents.delete(oldest)
      agents.set(name, agent)
    }
    return agent
  }
  return {
    open(target): SendToWebhook {
      checkTarget(target)
      const agent = agentOf(target)
      return async (request) => {
        const address = await target.resolve?.()
        for (let again = false; ; again = true) {
          const attempt = post(agent, target, request, { address, open })
          try {
            return await attempt.answer
          } catch (error) {
            if (again || request.signal.aborted || !attempt.wasStale(error))
              throw connectionFailure(error, hostOf(target, address))
          }
        }
      }
    },
    [Symbol.dispose]() {
      for (const request of open) request.destroy()
      for (const agent of agents.values()) agent.destroy()
      agents.clear()
    },
  }
}

/** @throws Error in the words of the stock server. */
export function checkTarget({ ca, certificate, key }: WebhookTarget): void {
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

/** None for a bundle with a malformed block. */
function authoritiesIn(bundle: string): readonly string[] {
  try {
    return pemBlocks(bundle, 'CERTIFICATE')
  } catch {
    return []
  }
}

export function newAgent({ ca, certificate, key, insecure }: WebhookTarget & { readonly insecure?: boolean }): Agent {
  return new Agent({
    keepAlive: true,
    maxFreeSockets: maxIdleConnections,
    timeout: idleMs,
    noDelay: true,
    minVersion: 'TLSv1.2',
    // A bundle may hold the server's own certificate, which is trusted as it is.
    allowPartialTrustChain: true,
    checkServerIdentity: checkNames,
    ...(insecure === true ? { rejectUnauthorized: false, checkServerIdentity: () => undefined } : {}),
    ...(ca === undefined ? {} : { ca }),
    ...(certificate === undefined || key === undefined ? {} : { cert: certificate, key }),
  })
}

/** Only the alternative names of a certificate count, as in Go; its common name is no name of a host. */
function checkNames(host: string, certificate: PeerCertificate): Error | undefined {
  const names = certificate.subjectaltname ?? ''
  const usable = isIP(host) === 0 ? /(?:^|, )DNS:/.test(names) : /(?:^|, )IP Address:/.test(names)
  if (usable) return checkServerIdentity(host, certificate)
  return Object.assign(new Error('the certificate has no such names'), {
    code: 'ERR_TLS_CERT_ALTNAME_INVALID',
    cert: certificate,
    host,
  })
}

export interface Address {
  readonly host: string
  readonly port: number
}

export function hostOf({ origin, serverName }: WebhookTarget, address: Address | undefined): Address & { readonly name: string } {
  const url = new URL(origin)
  const own = url.hostname.replace(/^\[|\]$/g, '')
  const { host, port } = address ?? { host: own, port: url.port === '' ? 443 : Number(url.port) }
  return { host: host.replace(/^\[|\]$/g, ''), port, name: serverName ?? own }
}

function post(
  agent: Agent,
  target: WebhookTarget,
  { method, path, headers, body, signal, limitBytes }: WebhookRequest,
  { address, open }: { readonly address: Address | undefined; readonly open: Set<ClientRequest> },
) {
  const { host, port, name } = hostOf(target, address)
  const outgoing = httpsRequest({
    agent,
    method,
    host,
    port,
    path,
    signal,
    headers: {
      ...headers,
      host: new URL(target.origin).host,
      ...(method === 'POST' ? { 'content-length': Buffer.byteLength(body) } : {}),
    },
    servername: isIP(name) === 0 ? name : '',
  })
  open.add(outgoing)
  outgoing.once('close', () => open.delete(outgoing))
  const answer = new Promise<WebhookResponse>((resolve, reject) => {
    outgoing.on('error', reject)
    outgoing.once('response', (incoming) => {
      readBody(incoming, limitBytes).then(
        (bytes) => resolve({ status: incoming.statusCode ?? 0, headers: headersOf(incoming), body: bytes }),
        (error: unknown) => {
          outgoing.destroy()
          reject(error instanceof Error ? error : new Error(String(error)))
        },
      )
    })
    outgoing.end(method === 'POST' ? body : undefined)
  })
  const wasStale = (error: unknown) => outgoing.reusedSocket && (error as NodeJS.ErrnoException).code === 'ECONNRESET'
  return { answer, wasStale }
}

function headersOf({ headers }: IncomingMessage): WebhookResponse['headers'] {
  return { 'content-type': headers['content-type'], location: headers.location }
}

async function readBody(incoming: IncomingMessage, limitBytes: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  let length = 0
  for await (const part of incoming as AsyncIterable<Uint8Array>) {
    length += part.byteLength
    if (length > limitBytes) throw new Error(`the answer is longer than ${limitBytes} bytes`)
    parts.push(part)
  }
  return parts.length === 1 ? (parts[0] as Uint8Array) : Buffer.concat(parts)
}
