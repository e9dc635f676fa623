import type { Socket } from 'node:net'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { Peer } from '@krmkit/protocol'

const known = Symbol('peer')

type Marked = Socket & { [known]?: Peer }

/** Who is at the other end; found once for each connection, the same object for all of its requests. */
export function peerOf(socket: Socket): Peer {
  const marked = socket as Marked
  const peer = marked[known]
  if (peer !== undefined) return peer
  const made = readPeer(socket)
  marked[known] = made
  return made
}

function readPeer(socket: Socket): Peer {
  const certificates = 'encrypted' in socket ? certificatesOf(socket as TLSSocket) : []
  return {
    ...(socket.remoteAddress === undefined ? {} : { address: socket.remoteAddress }),
    ...(certificates.length === 0 ? {} : { certificates }),
  }
}

/** Leaf first; whether anybody believes them is for the authenticators to say. */
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
