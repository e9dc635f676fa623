import { defaultAdmissionPlugins } from '@krmkit/admission'
import { createApiServer, type EmbeddedServer } from '@krmkit/apiserver'
import { createPrivilegedGroupsAuthorizer, createUnionAuthorizer } from '@krmkit/authorization'
import { createInProcessTransport } from '@krmkit/client'
import type { UserInfo } from '@krmkit/meta'
import type { ProxyConnection, ProxyTarget, ProxyTransport } from '@krmkit/protocol'
import { fork, memoryStorage, type Storage } from '@krmkit/storage'
import type { Nodes } from './nodes.ts'
import { statusError } from './terminal/terminal-error.ts'

/** The API server of the playground, with its requests as texts. */

/** A request as the terminal and the panels make it. */
export interface ClusterRequest {
  /** Default GET. */
  readonly method?: string
  /** Path and query. */
  readonly path: string
  readonly body?: string
  /** Default `application/json`. */
  readonly contentType?: string
  readonly accept?: string
  /** Default: the administrator. */
  readonly user?: UserInfo
  readonly signal?: AbortSignal
}

export interface ClusterResponse {
  readonly status: number
  readonly text: string
  /** Texts of Warning headers. */
  readonly warnings: readonly string[]
}

/** A request that changed the cluster; links replay these. */
export type JournalEntry = Pick<ClusterRequest, 'method' | 'path' | 'body' | 'contentType' | 'user'>

export const administrator: UserInfo = { username: 'admin', groups: ['system:masters', 'system:authenticated'] }

/** The releases that the server can behave like, newest first. */
export const releases: readonly string[] = Array.from({ length: 13 }, (_, index) => `1.${33 - index}`)

/** Journals beyond this number of entries are not recorded further. */
const maxJournalEntries = 400

export class Cluster {
  readonly journal: JournalEntry[] = []
  #storage: Storage
  #server: EmbeddedServer
  #release: string
  #nodes: Nodes | undefined
  #nodeCount = 0
  readonly #kubelets: Kubelets

  /** Starts a server of a release with default roles and the namespace `default`. */
  static async start(release: string = releases[0]!): Promise<Cluster> {
    const storage = memoryStorage()
    const kubelets = new Kubelets()
    return new Cluster({ storage, release, kubelets, server: await serve({ storage, release, kubelets }) })
  }

  private constructor({ storage, release, kubelets, server }: ServerParts & { readonly server: EmbeddedServer }) {
    this.#storage = storage
    this.#server = server
    this.#release = release
    this.#kubelets = kubelets
  }

  get release(): string {
    return this.#release
  }

  /** Serves the same objects as another release. */
  async switchRelease(release: string): Promise<void> {
    const count = this.#nodeCount
    await this.setNodes(0)
    // A server closes its storage.
    this.#storage = fork(this.#storage)
    await this.#server.close()
    this.#release = release
    this.#server = await serve({ storage: this.#storage, release, kubelets: this.#kubelets })
    await this.setNodes(count)
  }

  get nodes(): number {
    return this.#nodeCount
  }

  /** Adds simulated nodes and runs the controllers of a cluster; 0 stops both and leaves their objects. */
  async setNodes(count: number): Promise<void> {
    await this.#nodes?.[Symbol.asyncDispose]()
    this.#nodes = count === 0 ? undefined : (await import('./nodes.ts')).startNodes(this.#server, count)
    this.#kubelets.transport = this.#nodes?.transport
    this.#nodeCount = count
  }

  /** Sends a request and reads the whole response. */
  async request(request: ClusterRequest): Promise<ClusterResponse> {
    const { status, headers, body } = await this.#send(request)
    const decoder = new TextDecoder()
    let text = ''
    for await (const part of body) text += decoder.decode(part, { stream: true })
    text += decoder.decode()
    if (status < 300) this.#record(request)
    return { status, text, warnings: warningsOf(headers.warning) }
  }

  /** Reads an object or a list as the administrator. @throws TerminalError with the message of the server */
  async read<T>(path: string): Promise<T> {
    const { status, text } = await this.request({ path })
    if (status >= 300) throw statusError(text)
    return JSON.parse(text) as T
  }

  /** Yields the lines of a watch until the signal aborts. */
  async *lines(request: ClusterRequest): AsyncGenerator<string, void, undefined> {
    const { body } = await this.#send(request)
    const decoder = new TextDecoder()
    let rest = ''
    for await (const part of body) {
      const parts = (rest + decoder.decode(part, { stream: true })).split('\n')
      rest = parts.pop() ?? ''
      yield* parts.filter((line) => line !== '')
    }
    if (rest !== '') yield rest
  }

  /** Repeats the requests of a journal. @returns the number of requests that failed */
  async replay(journal: readonly JournalEntry[]): Promise<number> {
    let failed = 0
    for (const entry of journal) if ((await this.request(entry)).status >= 300) failed++
    return failed
  }

  async close(): Promise<void> {
    await this.setNodes(0)
    await this.#server.close()
  }

  #send({
    method = 'GET',
    path,
    body,
    contentType = 'application/json',
    accept = 'application/json',
    user,
    signal,
  }: ClusterRequest) {
    const [before = '', query = ''] = path.split('?', 2)
    return createInProcessTransport(this.#server.handle, user ?? administrator).send({
      method,
      path: before,
      query,
      headers: { accept, 'user-agent': 'playground', ...(body === undefined ? {} : { 'content-type': contentType }) },
      ...(body === undefined ? {} : { body: new TextEncoder().encode(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  }

  #record({ method = 'GET', path, body, contentType, user }: ClusterRequest): void {
    if (method === 'GET' || /[?&]dryRun=/.test(path) || /reviews$/.test(path)) return
    if (this.journal.length >= maxJournalEntries) return
    this.journal.push({
      method,
      path,
      ...(body === undefined ? {} : { body }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(user === undefined ? {} : { user }),
    })
  }
}

interface ServerParts {
  readonly storage: Storage
  readonly release: string
  readonly kubelets: Kubelets
}

/** Reaches the nodes that exist when a request is made, so that a server can start before the code of nodes is loaded. */
class Kubelets implements ProxyTransport {
  transport: ProxyTransport | undefined

  open(target: ProxyTarget): ProxyConnection {
    return {
      send: async (request) => {
        if (this.transport === undefined) throw new Error('no node is running')
        return this.transport.open(target).send(request)
      },
      close: () => undefined,
    }
  }
}

function serve({ storage, release, kubelets }: ServerParts): Promise<EmbeddedServer> {
  return createApiServer({
    storage,
    ...(release === releases[0] ? {} : { emulate: release }),
    authorizer: async ({ rbac }) => createUnionAuthorizer([createPrivilegedGroupsAuthorizer(), await rbac()]),
    bootstrapRoles: true,
    admission: defaultAdmissionPlugins,
    proxy: { transport: kubelets },
  })
}

/** `299 - "text"` */
function warningsOf(header: string | readonly string[] | undefined): string[] {
  const values = header === undefined ? [] : typeof header === 'string' ? [header] : header
  return values.flatMap((value) =>
    [...value.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replace(/\\(.)/g, '$1')),
  )
}
