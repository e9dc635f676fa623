import type { AddressInfo, Server } from 'node:net'
import { HttpError } from './http-error.ts'
import { isWildcard } from './tls.ts'

/** Where to listen: on an address, or on a Unix socket. */
export type BindAddress = { readonly host: string; readonly port: number } | { readonly path: string }

/** Starts listening. @returns the port; 0 for a path. @throws HttpError `ListenFailed` */
export function bind(server: Server, address: BindAddress): Promise<number> {
  return new Promise((resolve, reject) => {
    const onError = (cause: NodeJS.ErrnoException) => {
      const where = 'path' in address ? address.path : `${urlHost(address.host, address.host)}:${address.port}`
      const why = cause.code === 'EADDRINUSE' ? 'the port is in use' : cause.message
      reject(new HttpError({ code: 'ListenFailed', message: `cannot listen on ${where}: ${why}`, cause }))
    }
    server.once('error', onError)
    server.listen({ ...address, backlog: 1024 }, () => {
      server.off('error', onError)
      resolve('path' in address ? 0 : (server.address() as AddressInfo).port)
    })
  })
}

/** A host as part of a URL; wildcard addresses appear as loopback. */
export function urlHost(host: string, wildcard = host === '::' ? '::1' : '127.0.0.1'): string {
  const name = isWildcard(host) ? wildcard : host
  return name.includes(':') ? `[${name}]` : name
}
