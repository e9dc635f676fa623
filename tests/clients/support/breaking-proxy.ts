import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP relay whose connections can be broken, to simulate an unreliable network. */
export interface BreakingProxy extends AsyncDisposable {
  readonly port: number
  /** Number of broken connections. */
  readonly broken: number
  /** Cuts every open connection: no TLS close, no last HTTP chunk. */
  breakAll(): void
}

export async function breakingProxy(target: { readonly host: string; readonly port: number }): Promise<BreakingProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let broken = 0
  const server = createServer({ noDelay: true }, (near) => {
    const far = connect({ ...target, noDelay: true })
    const pair = [near, far] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [far, near] as const]) {
      from.pipe(to)
      from.on('error', () => undefined)
      from.on('close', () => {
        to.destroy()
        pairs.delete(pair)
      })
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const breakAll = () => {
    for (const [near, far] of pairs) {
      broken++
      near.destroy()
      far.destroy()
    }
    pairs.clear()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get broken() {
      return broken
    },
    breakAll,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      breakAll()
      await closed
    },
  }
}
