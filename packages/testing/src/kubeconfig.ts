import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubeconfigText } from '@krmkit/client'
import { type Listener, listen, type ServerLike, selfSigned } from '@krmkit/http'
import type { UserInfo } from '@krmkit/meta'

export interface KubeconfigFileOptions {
  /** Default: the administrator. */
  readonly user?: string | UserInfo
  /** Namespace of the context. Default: `default`. */
  readonly namespace?: string
}

/** A kubeconfig on disk. */
export interface KubeconfigFile {
  /** For `KUBECONFIG` and `--kubeconfig`. Removed when the test server closes. */
  readonly path: string
  readonly text: string
  /** Address of the server, with TLS. */
  readonly url: string
}

/** The port and the kubeconfigs of a test server. */
export class KubeconfigFiles implements AsyncDisposable {
  readonly #open: (start: (server: ServerLike) => Promise<Listener>) => Promise<Listener>
  #started: Promise<{ readonly folder: string; readonly listener: Listener }> | undefined
  #count = 0

  /** @param open serves on a port until the test server closes */
  constructor(open: (start: (server: ServerLike) => Promise<Listener>) => Promise<Listener>) {
    this.#open = open
  }

  async write({ token, namespace }: { readonly token: string; readonly namespace: string | undefined }): Promise<KubeconfigFile> {
    this.#started ??= this.#start()
    const { folder, listener } = await this.#started
    const { url, authority } = listener
    const names = { cluster: 'test', user: 'test' }
    const text = kubeconfigText({ server: url, authority, token, names, ...(namespace === undefined ? {} : { namespace }) })
    const path = join(folder, `kubeconfig-${++this.#count}`)
    await writeFile(path, text, { mode: 0o600 })
    return { path, text, url }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const started = await this.#started?.catch(() => undefined)
    if (started !== undefined) await rm(started.folder, { recursive: true, force: true })
  }

  async #start() {
    const folder = await mkdtemp(join(tmpdir(), 'krmkit-test-'))
    try {
      const listener = await this.#open((server) => listen(server, { tls: selfSigned(join(folder, 'pki')) }))
      return { folder, listener }
    } catch (error) {
      await rm(folder, { recursive: true, force: true })
      throw error
    }
  }
}
