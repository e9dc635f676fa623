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
import { fetchText } from './remote-discovery.ts'
import type { RemoteService } from './remote-service.ts'
import { convertToV3 } from './v2-to-v3.ts'

/** A group version of another server. */
export interface RemoteGroupVersion {
  readonly group: string
  readonly version: string
  readonly remote: RemoteService
}

interface PublishedVersion extends RemoteGroupVersion {
  /** Where its document of version 3 is; undefined while it is not known, empty where there is none. */
  readonly v3Url?: string
  readonly converted?: ConvertedDocument
  /** Of the document of version 2 only this part is kept. */
  readonly v2?: RemoteDocument
  /** The tag of that document is the server's own, which can be asked by it. */
  readonly hasServerTag?: boolean
}

interface FetchedDocument {
  readonly etag: string
  readonly hasServerTag: boolean
  readonly document: JsonObject
}

/**
 * The OpenAPI documents of other servers. Where their documents of version 3 are is asked for now and then; those themselves are passed
 * through. Documents of version 2 are fetched once somebody wants the common one, or when a server has no others.
 */
export class RemoteOpenApi implements RemoteSource {
  readonly #clock: Clock
  readonly #signal: AbortSignal
  readonly #published = new Map<string, PublishedVersion>()
  #wantsV2 = false
  #documents: RemoteDocuments = noRemoteDocuments

  constructor(clock: Clock, signal: AbortSignal) {
    this.#clock = clock
    this.#signal = signal
  }

  get documents(): RemoteDocuments {
    return this.#documents
  }

  /** Where a request for the document of a group version goes: to the other server, or here. */
  isProxied(name: string): boolean {
    const known = this.#published.get(name)
    return known !== undefined && known.converted === undefined && known.v3Url !== ''
  }

  /** Looks again what a server publishes that is there. What it published before stays when it does not answer. */
  async refresh(name: string, at: RemoteGroupVersion): Promise<void> {
    const before = this.#published.get(name)
    const same = before?.remote === at.remote ? before : undefined
    try {
      const found = await this.#load(at, same)
      if (this.#signal.aborted) return
      this.#published.set(name, found)
      if (!isUnchanged(same, found)) this.#publish()
    } catch {
      // It is asked again with the next check.
      if (!this.#signal.aborted && same === undefined) this.#published.set(name, at)
    }
  }

  delete(name: string): void {
    if (this.#published.delete(name)) this.#publish()
  }

  /** Fetches documents of version 2 that are still missing, and waits for them, but not for long. Never rejects. */
  async fetchV2(): Promise<void> {
    if (this.#wantsV2) return
    this.#wantsV2 = true
    const all = Promise.all([...this.#published].map(([name, at]) => this.refresh(name, at)))
    await new Promise<void>((resolve) => {
      const cancel = this.#clock.setTimeout(resolve, v2WaitMs)
      void all.then(() => {
        cancel()
        resolve()
      })
    })
  }

  async #load(at: RemoteGroupVersion, before: PublishedVersion | undefined): Promise<PublishedVersion> {
    const { group, remote, version } = at
    const prefix = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const address = await this.#findV3Url(remote, prefix.slice(1))
    const legacy = address === undefined
    const fetched = legacy || this.#wantsV2 ? await this.#fetchDocument(remote, before) : undefined
    if (fetched === undefined) return { ...at, v3Url: address ?? '' }
    const kept = { ...at, address: address ?? '', tagged: fetched.hasServerTag }
    const { converted, v2 } = before ?? {}
    if (fetched.etag === v2?.etag) return { ...kept, v2, ...(converted === undefined || !legacy ? {} : { converted }) }
    const { document, etag } = fetched as FetchedDocument
    const part = remoteDocument(document, { prefix: `${prefix}/`, etag })
    return { ...kept, v2: part, ...(legacy ? { converted: convertedDocument(document, { prefix, etag }) } : {}) }
  }

  /** @returns undefined for a server without documents of version 3, an empty text for one that has none of this group version. */
  async #findV3Url(remote: RemoteService, name: string): Promise<string | undefined> {
    const answer = await this.#fetch(remote, '/openapi/v3')
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`${remote.id} answered with ${answer.status}`)
    const { paths } = (JSON.parse(answer.text) ?? {}) as { readonly paths?: Record<string, { serverRelativeURL?: unknown }> }
    const url = paths !== undefined && Object.hasOwn(paths, name) ? paths[name]?.serverRelativeURL : undefined
    return typeof url === 'string' && url.startsWith(`/openapi/v3/${name}`) ? url : ''
  }

  /** @returns without the document what is known already; undefined for a server that publishes none. */
  async #fetchDocument(
    remote: RemoteService,
    before: PublishedVersion | undefined,
  ): Promise<FetchedDocument | Omit<FetchedDocument, 'document'> | undefined> {
    const known = before?.v2?.etag
    const answer = await this.#fetch(remote, '/openapi/v2', before?.hasServerTag === true ? known : undefined)
    if (answer.status === 304 && known !== undefined) return { etag: known, hasServerTag: true }
    if (answer.status === 404) return undefined
    if (answer.status !== 200) throw new Error(`${remote.id} answered with ${answer.status}`)
    const theirs = [answer.headers.etag ?? []].flat()[0]
    const etag = theirs ?? createHash('sha512').update(answer.text).digest('hex').toUpperCase()
    const tagged = theirs !== undefined
    if (etag === known) return { etag, hasServerTag: tagged }
    const document: unknown = JSON.parse(answer.text)
    if (typeof document !== 'object' || document === null) throw new Error(`${remote.id} publishes no document`)
    return { etag, hasServerTag: tagged, document: document as JsonObject }
  }

  #fetch(remote: RemoteService, path: string, etag?: string) {
    const headers = { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) }
    return fetchText(remote, path, { user: openApiUser, headers, signal: this.#signal, clock: this.#clock, ms: downloadMs })
  }

  #publish(): void {
    const all = [...this.#published.values()]
    this.#documents = {
      v3: new Map(
        all.flatMap(({ v3Url: address = '', group, version }) =>
          address === '' ? [] : [[documentNameOf(group, version), address]],
        ),
      ),
      converted: new Map(
        all.flatMap(({ converted, group, version }) =>
          converted === undefined ? [] : [[documentNameOf(group, version), converted]],
        ),
      ),
      v2: all.flatMap(({ v2 }) => v2 ?? []),
    }
  }
}

function isUnchanged(a: PublishedVersion | undefined, b: PublishedVersion): boolean {
  return a !== undefined && a.v3Url === b.v3Url && a.v2 === b.v2 && a.converted === b.converted
}

function documentNameOf(group: string, version: string): string {
  return group === '' ? `api/${version}` : `apis/${group}/${version}`
}

function convertedDocument(
  document: JsonObject,
  { prefix, etag }: { readonly prefix: string; readonly etag: string },
): ConvertedDocument {
  const hash = createHash('sha512').update(`${prefix}\n${etag}`).digest('hex').toUpperCase()
  return { etag, hash, document: convertToV3(document, [`${prefix}/`]) }
}

const downloadMs = 20_000
/** Whoever asks for the common document does not wait longer for another server's part; it is there the next time. */
const v2WaitMs = 3_000
const openApiUser = { username: 'system:aggregator', groups: [] }
