import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Peer } from '@krmkit/protocol'

const cached = Symbol('peer')

type CachingSocket = Socket & { [cached]?: Peer }

/** Returns the peer of a connection: one object, shared by all of its requests. */
export function peerOf(socket: Socket): Peer {
  const cache = socket as CachingSocket
  const peer = cache[cached]
  if (peer !== undefined) return peer
  const created = readPeer(socket)
  cache[cached] = created
  return created
}

function readPeer(socket: Socket): Peer {
  // On Bun, every socket has the member `encrypted`.
  const certificates = (socket as Partial<TLSSocket>).encrypted === true ? certificatesOf(socket as TLSSocket) : []
  return {
    ...(socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress }),
    ...(certificates.length === 0 ? {} : { certificates }),
  }
}

/** Certificates of the client, leaf first. Authenticators verify them. */
function certificatesOf(socket: TLSSocket): Uint8Array[] {
  const chain: Uint8Array[] = []
  let certificate: DetailedPeerCertificate | undefined = socket.getPeerCertificate(true) as DetailedPeerCertificate | undefined
  while (certificate?.raw !== undefined && chain.length < 10) {
    chain.push(certificate.raw)
    const issuer: DetailedPeerCertificate | undefined = certificate.issuerCertificate
    if (issuer === certificate) break
    certificate = issuer
  }
  return chain
}
