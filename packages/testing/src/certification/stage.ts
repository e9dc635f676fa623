import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resourceType } from '@krmkit/client'
import { type Listener, listen, selfSigned } from '@krmkit/http'
import { type ApiObject, systemClock } from '@krmkit/meta'
import type { TestServer } from '../interfaces.ts'
import { createTestServer } from '../test-server.ts'
import { Front } from './front.ts'
import type { CachedObject, CertificationServer } from './interfaces.ts'

export const namespace = 'certification'
export const collectionPath = `/api/v1/namespaces/${namespace}/configmaps`
const user = 'certified'
/** Selects the requests of the client under test, for `cluster.faults`. */
export const byClient = { user, resource: 'configmaps' } as const

export type ConfigMap = ApiObject & { data?: Record<string, string> }
export const ConfigMaps = resourceType<ConfigMap>({ group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap' })
const Secrets = resourceType({ group: '', version: 'v1', resource: 'secrets', kind: 'Secret' })

/** The folder with the certificates that all scenarios of a run share. */
export interface SharedFolder extends AsyncDisposable {
  readonly path: string
}

export async function sharedFolder(): Promise<SharedFolder> {
  const path = await mkdtemp(join(tmpdir(), 'krmkit-certification-'))
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) }
}

export interface StageOptions {
  readonly folder: SharedFolder
  /** Name of the folder of this stage. */
  readonly id: string
  /** How far the clock of the server is ahead, in milliseconds. Default 0. */
  readonly aheadMs?: number
}

/** The server of one scenario, on a port, with methods by which the test writes to it. */
export class Stage implements AsyncDisposable {
  readonly front = new Front()
  readonly cluster: TestServer
  /** All versions that the server has stored: `uid@resourceVersion`. */
  readonly stored = new Set<string>()
  readonly #folder: string
  readonly #pki: string
  #listener: Listener | undefined
  #server: CertificationServer | undefined

  private constructor(cluster: TestServer, options: StageOptions) {
    this.cluster = cluster
    this.#folder = join(options.folder.path, options.id)
    this.#pki = join(options.folder.path, 'pki')
  }

  static async open(options: StageOptions): Promise<Stage> {
    const { aheadMs = 0 } = options
    const seed = [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }]
    const startAtMs = systemClock.now() + aheadMs
    const stage = new Stage(await createTestServer({ seed, controllers: [], startAtMs }), options)
    try {
      await stage.#listen(0)
      await stage.#writeFiles()
      return stage
    } catch (error) {
      await stage[Symbol.asyncDispose]()
      throw error
    }
  }

  get server(): CertificationServer {
    return this.#server!
  }

  /** Creates or replaces a ConfigMap. */
  async put(name: string, data: Record<string, string> = {}, labels?: Record<string, string>): Promise<void> {
    const object = { metadata: { name, namespace, ...(labels === undefined ? {} : { labels }) }, data }
    const exists = (await this.objects()).some(({ metadata }) => metadata.name === name)
    const { client } = this.cluster
    this.#note(await (exists ? client.update(ConfigMaps, object) : client.create(ConfigMaps, object)))
  }

  async remove(name: string): Promise<void> {
    await this.cluster.client.delete(ConfigMaps, name, { namespace })
    // The resource version of the DELETED event is the revision of the deletion.
  }

  /** Advances the resource version by changes to objects that the client under test does not watch. */
  async changeOthers(): Promise<void> {
    for (let i = 0; i < 3; i++) {
      await this.cluster.client.create(Secrets, { metadata: { generateName: 'other-', namespace } })
    }
  }

  /** Advances the clock of the server far enough for a bookmark on every watch that asks for them. */
  async sendBookmarks(): Promise<void> {
    await this.cluster.clock.advance('75s')
  }

  /** Returns the objects on the server. */
  async objects(labelSelector?: string): Promise<readonly CachedObject[]> {
    const { client } = this.cluster
    const options = labelSelector === undefined ? { namespace } : { namespace, labelSelector }
    return (await client.list(ConfigMaps, options)).items
  }

  /** Replaces the token: requests with the old token get 401, and the file contains the new token. */
  async rotateToken(): Promise<void> {
    this.cluster.expireTokens(user)
    await writeFile(this.server.tokenFile, this.cluster.tokenOf(user))
  }

  /** Closes the port and all connections. */
  async stop(): Promise<void> {
    await this.#listener?.close({ graceMs: 0 })
  }

  /** Opens the same port again. */
  async restart(): Promise<void> {
    await this.#listen(Number(new URL(this.server.url).port))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    await this.cluster.close()
  }

  async #listen(port: number): Promise<void> {
    await this.cluster.listen(async (server) => {
      const tls = selfSigned(this.#pki)
      this.#listener = await listen({ handle: this.front.wrap(server.handle) }, { port, tls, graceMs: 0 })
      return this.#listener
    })
  }

  async #writeFiles(): Promise<void> {
    const { url, authority = '' } = this.#listener!
    await mkdir(this.#folder, { recursive: true })
    const file = (name: string) => join(this.#folder, name)
    const token = this.cluster.tokenOf(user)
    const server: CertificationServer = {
      url,
      token,
      authority,
      kubeconfig: file('kubeconfig'),
      tokenFile: file('token'),
      authorityFile: file('ca.pem'),
    }
    await writeFile(server.tokenFile, token, { mode: 0o600 })
    await writeFile(server.authorityFile, authority)
    await writeFile(server.kubeconfig, kubeconfigOf(server), { mode: 0o600 })
    this.#server = server
  }

  #note(object: CachedObject): void {
    this.stored.add(versionOf(object))
  }
}

export function versionOf({ metadata }: CachedObject): string {
  return `${metadata.uid}@${metadata.resourceVersion}`
}

/** Formats a kubeconfig with a token file, as JSON, which is valid YAML. */
function kubeconfigOf(server: CertificationServer): string {
  const name = 'certification'
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name, cluster: { server: server.url, 'certificate-authority': server.authorityFile } }],
    users: [{ name, user: { tokenFile: server.tokenFile } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
    'current-context': name,
  })
}
