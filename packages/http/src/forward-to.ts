import { connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { HttpError } from './http-error.ts'

/** A connection to a port of a simulated pod: a part of the `PortForwardContext` of `@krmkit/controllers`. */
export interface ForwardedConnection {
  readonly port: number
  readonly connection: Duplex
}

/**
 * Returns a handler for `portForward` of a simulated container that connects the clients to a real address.
 *
 * @param address `host:port`; without a port, the port of the pod is used
 * @throws HttpError `InvalidOption` for a malformed address
 * @example
 * import { NodeSimulation } from '@krmkit/controllers'
 * import { forwardTo } from '@krmkit/http'
 * const behaviors = [{ match: { image: 'web:1' }, portForward: forwardTo('127.0.0.1:3000') }]
 * const simulation = new NodeSimulation({ nodes: 1, behaviors })
 */
export function forwardTo(address: string): (context: ForwardedConnection) => Promise<void> {
  const { host, port } = parseAddress(address)
  return (context) => forward(context, host, port ?? context.port)
}

/** Rejects when the address cannot be reached. */
function forward({ connection }: ForwardedConnection, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    connection.once('close', () => socket.destroy())
    socket.once('error', reject).once('close', () => connection.destroy())
    socket.once('connect', () => {
      socket.off('error', reject).on('error', () => connection.destroy())
      connection.pipe(socket)
      socket.pipe(connection)
      resolve()
    })
  })
}

function parseAddress(address: string): { readonly host: string; readonly port: number | undefined } {
  const url = URL.canParse(`tcp://${address}`) ? new URL(`tcp://${address}`) : undefined
  if (url === undefined || url.host === '' || url.host !== address) {
    const message = `${JSON.stringify(address)} is not an address; write 127.0.0.1:3000 or [::1]:3000`
    throw new HttpError({ code: 'InvalidOption', message })
  }
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port: url.port === '' ? undefined : Number(url.port) }
}
