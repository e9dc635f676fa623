import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { ServingCertificate } from '@krmkit/certificates'

/** A webhook with a fault per path. */
export interface FaultServer extends AsyncDisposable {
  readonly port: number
  /** Number of accepted connections. */
  readonly connections: number
  /** Resolves when the next request has arrived. */
  called(): Promise<void>
}

interface Review {
  readonly apiVersion: string
  readonly request: { readonly uid: string }
}

type Fault = (context: {
  readonly raw: Socket | undefined
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly review: Review
}) => void

const json = (response: ServerResponse, value: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(typeof value === 'string' ? value : JSON.stringify(value))
}
const answer =
  (change: (answer: Record<string, unknown>) => unknown): Fault =>
  ({ response, review: { apiVersion, request } }) =>
    json(response, change({ apiVersion, kind: 'AdmissionReview', response: { uid: request.uid, allowed: true } }))
const patching = (patch: object[]): Fault =>
  answer((review) => ({
    ...review,
    response: { ...(review['response'] as object), patchType: 'JSONPatch', patch: btoa(JSON.stringify(patch)) },
  }))

const faults: Readonly<Record<string, Fault>> = {
  '/fine': patching([{ op: 'add', path: '/metadata/labels/seen', value: 'yes' }]),
  '/who': (context) => {
    const { authorization = '' } = context.request.headers
    const { subject } = (context.request.socket as TLSSocket).getPeerCertificate()
    patching([{ op: 'add', path: '/metadata/annotations', value: { authorization, subject: String(subject?.CN ?? '') } }])(
      context,
    )
  },
  '/reset': ({ raw }) => void raw?.resetAndDestroy(),
  '/hang-up': ({ request }) => void request.socket.destroy(),
  '/slow-headers': () => undefined,
  '/slow-body': ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.write('{"apiVersion":')
  },
  '/huge': ({ response }) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const more = () => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    }
    response.on('drain', more)
    more()
  },
  '/cut-off': ({ request, response }) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
    response.write('{"apiVersion":', () => request.socket.destroy())
  },
  '/truncated': ({ response, review }) => json(response, `{"apiVersion":"${review.apiVersion}","kind":"AdmissionReview","respo`),
  '/wrong-uid': answer((review) => ({ ...review, response: { uid: 'another', allowed: true } })),
  '/wrong-version': answer((review) => ({ ...review, apiVersion: 'admission.k8s.io/v1beta1' })),
  '/wrong-kind': answer((review) => ({ ...review, kind: 'Review' })),
  '/wrong-type': answer((review) => ({ ...review, response: { ...(review['response'] as object), allowed: 'yes' } })),
  '/patch-outside': patching([{ op: 'replace', path: '/spec/none', value: 1 }]),
  '/patch-invalid': patching([{ op: 'add', path: '/data', value: { 'not a key': 'x' } }]),
  '/status-500': ({ response }) => {
    response.writeHead(500, { 'content-type': 'text/plain' })
    response.end('out of order')
  },
}

export async function faultServer({ certificate, key }: Pick<ServingCertificate, 'certificate' | 'key'>): Promise<FaultServer> {
  let waiting: (() => void)[] = []
  let connections = 0
  /** TCP sockets by remote port. */
  const sockets = new Map<number | undefined, Socket>()
  const server: Server = createServer(
    { cert: certificate, key, requestCert: true, rejectUnauthorized: false },
    (request, response) => {
      let text = ''
      request.setEncoding('utf8')
      request.on('data', (part: string) => {
        text += part
      })
      request.on('end', () => {
        const path = (request.url ?? '').split('?')[0] ?? ''
        const fault = faults[path]
        if (fault === undefined) throw new Error(`no fault ${path}`)
        fault({ raw: sockets.get(request.socket.remotePort), request, response, review: JSON.parse(text) as Review })
        for (const wake of waiting) wake()
        waiting = []
      })
    },
  )
  server.on('connection', (socket: Socket) => sockets.set(socket.remotePort, socket))
  server.on('secureConnection', () => connections++)
  // The client may abort the handshake.
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections
    },
    called: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
      }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
