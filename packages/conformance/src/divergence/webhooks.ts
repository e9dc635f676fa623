import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from '@krmkit/meta'
import { answerConversion } from './conversion-hook.ts'

/**
 * The admission and conversion webhooks of the scenarios, for both servers. `{hook}` in a scenario is the address for its server:
 *
 * - `{hook}/{id}/NAME/ANSWER`: a webhook, which answers the JSON in ANSWER (base64url) as `response`, with the uid of the review
 * - `{hook}/{id}/convert` and `{hook}/{id}/convert/marking`: conversion webhooks (`conversion-hook.ts`)
 * - GET `{hook}/{id}`: the reviews of the scenario since the last such request, sorted by path
 */
export interface Webhooks {
  /** Address for one server. */
  url(side: string): string
  /** The certificate of the webhooks, in base64. */
  readonly caBundle: string
  stop(): Promise<void>
}

interface Received {
  readonly path: string
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly review: unknown
}

export async function startWebhooks(): Promise<Webhooks> {
  const folder = mkdtempSync(join(tmpdir(), 'differential-webhooks-'))
  const [keyFile, certFile] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=webhooks', '-addext', 'subjectAltName=IP:127.0.0.1', '-days', '2']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-keyout', keyFile, '-out', certFile, ...subject], {
    stdio: 'ignore',
  })
  const [key, cert] = [readFileSync(keyFile), readFileSync(certFile)]
  rmSync(folder, { recursive: true })
  const received = new Map<string, Received[]>()
  const server = createServer({ key, cert }, (incoming, outgoing) => {
    const parts: Buffer[] = []
    incoming.on('data', (part: Buffer) => parts.push(part))
    incoming.on('end', () => {
      // `/SIDE/ID/NAME/ANSWER`
      const [, side, id, ...rest] = (incoming.url ?? '').split('?')[0]?.split('/') ?? []
      const place = `${side}/${id}`
      outgoing.setHeader('content-type', 'application/json')
      if (incoming.method === 'GET') {
        const list = (received.get(place) ?? []).toSorted((a, b) => (a.path < b.path ? -1 : 1))
        received.delete(place)
        outgoing.end(JSON.stringify({ reviews: list }))
        return
      }
      const review = JSON.parse(Buffer.concat(parts).toString('utf8')) as { request?: { uid?: string } }
      if (rest[0] === 'convert') {
        outgoing.end(JSON.stringify(answerConversion(review as JsonObject, rest[1] === 'marking')))
        return
      }
      const { accept, 'content-type': contentType } = incoming.headers
      const entry = { path: rest.join('/'), headers: { accept, contentType }, review }
      received.set(place, [...(received.get(place) ?? []), entry])
      outgoing.end(answerOf(rest[1] ?? '', review))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (side) => `https://127.0.0.1:${port}/${side}`,
    caBundle: cert.toString('base64'),
    stop: () => close(server),
  }
}

function answerOf(encoded: string, review: { request?: { uid?: string } }): string {
  const response = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')) as object
  const uid = review.request?.uid ?? ''
  return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, ...response } })
}

async function close(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
