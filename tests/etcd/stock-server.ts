/** Runs a stock kube-apiserver on an etcd. */
import { type ChildProcess, spawn } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { ApiEndpoint } from '../../packages/conformance/src/api-endpoint.ts'

/** A token file with one administrator. */
export function writeTokens(folder: string, token: string): string {
  const path = join(folder, 'tokens.csv')
  writeFileSync(path, `${token},admin,admin-uid,"system:masters"\n`)
  return path
}

export class StockServer {
  readonly endpoint: ApiEndpoint
  readonly url: string
  readonly #child: ChildProcess

  private constructor(child: ChildProcess, { endpoint, port }: { readonly endpoint: ApiEndpoint; readonly port: number }) {
    this.#child = child
    this.endpoint = endpoint
    this.url = `https://127.0.0.1:${port}`
  }

  get pid(): number | undefined {
    return this.#child.pid
  }

  static async start(
    program: string,
    { etcd, folder, token, flags = [] }: { etcd: string; folder: string; token: string; flags?: readonly string[] },
  ): Promise<StockServer> {
    const port = await freePort()
    const key = join(folder, 'sa.key')
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(key, privateKey.export({ type: 'pkcs8', format: 'pem' }))
    const child = spawn(
      program,
      [
        ...['--etcd-servers', etcd, '--secure-port', String(port), '--bind-address', '127.0.0.1'],
        ...['--cert-dir', join(folder, 'certs'), '--token-auth-file', writeTokens(folder, token)],
        ...['--service-account-issuer', 'https://kubernetes.default.svc', '--service-account-key-file', key],
        ...[
          '--service-account-signing-key-file',
          key,
          '--authorization-mode',
          'RBAC',
          '--service-cluster-ip-range',
          '10.0.0.0/24',
        ],
        ...flags,
      ],
      { stdio: 'ignore' },
    )
    const server = new StockServer(child, { endpoint: new ApiEndpoint('stock', port, token), port })
    for (let attempt = 0; attempt < 300; attempt++) {
      const ready = await server.endpoint.send('GET', '/readyz').catch(() => undefined)
      if (ready?.status === 200) return server
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await server.close()
    throw new Error('kube-apiserver did not become ready')
  }

  async close(): Promise<void> {
    this.endpoint.close()
    const gone = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill('SIGKILL')
    await gone
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
