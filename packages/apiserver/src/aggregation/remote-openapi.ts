import { createHash } from 'node:crypto'
import type { Clock, JsonObject } from '@krmkit/meta'
import {
  type ConvertedDocument,
  noRemoteDocuments,
  type RemoteDocument,
  type RemoteDocuments,
  type RemoteSource,
  remoteDocument,
} from '../openapi/index.ts'
import { askWithin } from './remote-discovery.ts'
import type { RemoteService } from './remote-service.ts'
import { v3FromV2 } from './v2-to-v3.ts'

/** A group version of another server. */
export interface RemoteGroupVersion {
  readonly group: string
  readonly version: string
  readonly remote: RemoteService
}

interface Known extends RemoteGroupVersion {
  /** Where its document of version 3 is; undefined while it is not known, empty where there is none. */
  readonly address?: string
  readonly converted?: ConvertedDocument
  /** Of the document of version 2 only this part is kept. */
  readonly v2?: RemoteDocument
  /** The tag of that document is the server's own, which can be asked by it. */
  readonly tagged?: boolean
}

interface Fetched {
  readonly etag: string
  readonly tagged: boolean
  readonly document: JsonObject
}

/**
 * The OpenAPI documents of other servers. Where their documents of version 3 are is asked for now and then; those themselves are passed
 * through. Documents of version 2 are fetched once somebody wants the common one, or when a server has no others.
 */
export class RemoteOpenApi implements RemoteSource {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #known = new Map<string, Known>()
  #wanted = false
  #documents: RemoteDocuments = noRemoteDocuments

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  get documents(): RemoteDocuments {
    return this.#documents
  }

  /** Where a request for the document of a group version goes: to the other server, or here. */
  passesOn(name: string): boolean {
    const known = this.#known.get(name)
    return known !== undefined && known.converted === undefined && known.address !== ''
  }

  /** Looks again what a server publishes that is there. What it published before stays when it does not answer. */
  async refresh(name: string, at: RemoteGroupVersion): Promise<void> {
    const before = this.#known.get(name)
    const same = before?.remote === at.remote ? before : undefined
    try {
      const found = await this.#look(at, same)
      if (this.#signal.aborted) return
      this.#known.set(name, found)
      if (!alike(same, found)) this.#publish()
    } catch {
      // It is asked again with the next check.
      if (!this.#signal.aborted && same === undefined) this.#known.set(name, at)
    }
  }

  forget(name: string): void {
    if (this.#known.delete(name)) this.#publish()
  }

  /** Fetches documents of version 2 that are still missing, and waits for them, but not for long. Never rejects. */
  async fetchV2(): Promise<void> {
    if (this.#wanted) return
    this.#wanted = true
    const all = Promise.all([...this.#known].map(([name, at]) => this.refresh(name, at)))
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimeout(resolve, patienceMs)
      void all.then(() => {
        cancel()
        resolve()
      })
    })
  }

  async #look(at: RemoteGroupVersion, before: Known | undefined): Promise<Known> {
    const { group, remote, version } = at
    const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const address = await this.#address(remote, prefix.slice(1))
    const legacy = address === undefined
    const fetched = legacy || this.#wanted ? await this.#fetch(remote, before) : undefined
    if (fetched === undefined) return { ...at, address: address ?? '' }
    const kept = { ...at, address: address ?? '', tagged: fetched.tagged }
    const { converted, v2 } = before ?? {}
    if (fetched.etag === v2?.etag) return { ...kept, v2, ...(converted === undefined || !legacy ? {} : { converted }) }
    const { document, etag } = fetched as Fetched
    const part = remoteDocument(document, { prefix: `${prefix}/`, etag })
    return { ...kept, v2: part, ...(legacy ? { converted: convertedDocument(document, { prefix, etag }) } : {}) }
  }

  /** @returns undefined for a server without documents of version 3, an empty text for one that has none of this group version. */
  async #address(remote: RemoteService, name: string): Promise<string | undefined> {
    const answer = await this.#ask(remote, '/openapi/v3')
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`${remote.place} answered with ${answer.status}`)
    const { paths } = (JSON.parse(answer.text) ?? {}) as { readonly paths?: Record<string, { serverRelativeURL?: unknown }> }
    const url = paths !== undefined && Object.hasOwn(paths, name) ? paths[name]?.serverRelativeURL : undefined
    return typeof url === 'string' && url.startsWith(`/openapi/v3/${name}`) ? url : ''
  }

  /** @returns without the document what is known already; undefined for a server that publishes none. */
  async #fetch(remote: RemoteService, before: Known | undefined): Promise<Fetched | Omit<Fetched, 'document'> | undefined> {
    const known = before?.v2?.etag
    const answer = await this.#ask(remote, '/openapi/v2', before?.tagged === true ? known : undefined)
    if (answer.status === 304 && known !== undefined) return { etag: known, tagged: true }
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`${remote.place} answered with ${answer.status}`)
    const theirs = [answer.headers.etag ?? []].flat()[0]
    const etag = theirs ?? createHash('sha512').update(answer.text).digest('hex').toUpperCase()
    const tagged = theirs !== undefined
    if (etag === known) return { etag, tagged }
    const document: unknown = JSON.parse(answer.text)
    if (typeof document !== 'object' || document === null) throw new Error(`${remote.place} publishes no document`)
    return { etag, tagged, document: document as JsonObject }
  }

  #ask(remote: RemoteService, path: string, etag?: string) {
    const headers = { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) }
    return askWithin(remote, path, { user: openApiUser, headers, signal: this.#signal, clock: this.#clock, ms: downloadMs })
  }

  #publish(): void {
    const all = [...this.#known.values()]
    this.#documents = {
      v3: new Map(all.flatMap(({ address = '', group, version }) => (address === '' ? [] : [[nameOf(group, version), address]]))),
      converted: new Map(
        all.flatMap(({ converted, group, version }) => (converted === undefined ? [] : [[nameOf(group, version), converted]])),
      ),
      v2: all.flatMap(({ v2 }) => v2 ?? []),
    }
  }
}

function alike(a: Known | undefined, b: Known): boolean {
  return a !== undefined && a.address === b.address && a.v2 === b.v2 && a.converted === b.converted
}

function nameOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function convertedDocument(
  document: JsonObject,
  { prefix, etag }: { readonly prefix: string; readonly etag: string },
): ConvertedDocument {
  const hash = createHash('sha512').update(`${prefix}\n${etag}`).digest('hex').toUpperCase()
  return { etag, hash, document: v3FromV2(document, [`${prefix}/`]) }
}

const downloadMs = 20_000
/** Whoever asks for the common document does not wait longer for another server's part; it is there the next time. */
const patienceMs = 3_000
const openApiUser = { username: 'system:aggregator', groups: [] }
