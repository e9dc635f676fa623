import { hexText } from '@krmkit/base/bytes'
import { digest } from '@krmkit/base/platform'
import type { Clock, JsonObject } from '@krmkit/meta'
import { documentName } from '../openapi/published.ts'
import {
  type ConvertedDocument,
  noRemoteDocuments,
  type RemoteDocument,
  type RemoteDocuments,
  type RemoteSource,
  remoteDocument,
} from '../openapi/remote-documents.ts'
import { groupVersionPath } from '../request/info.ts'
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
  /** URL of its OpenAPI v3 document; undefined until fetched, empty when the server has none. */
  readonly v3Url?: string
  readonly converted?: ConvertedDocument
  /** The part of the OpenAPI v2 document that concerns this group version. */
  readonly v2?: RemoteDocument
  /** Whether the ETag of the v2 document comes from the server, so that it can be used for revalidation. */
  readonly hasServerTag?: boolean
}

interface FetchedDocument {
  readonly etag: string
  readonly hasServerTag: boolean
  readonly document: JsonObject
}

/**
 * The OpenAPI documents of other servers. Indexes of v3 documents are polled; requests for the documents themselves are proxied. v2
 * documents are fetched at the first request for the merged v2 document, or when a server publishes no v3.
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

  /** Whether requests for the v3 document of a group version are proxied to the other server. */
  isProxied(name: string): boolean {
    const published = this.#published.get(name)
    return published !== undefined && published.converted === undefined && published.v3Url !== ''
  }

  /** Fetches again the documents that an available server publishes. After a failure, the previous documents stay. */
  async refresh(name: string, at: RemoteGroupVersion): Promise<void> {
    const before = this.#published.get(name)
    const previous = before?.remote === at.remote ? before : undefined
    try {
      const loaded = await this.#load(at, previous)
      if (this.#signal.aborted) return
      this.#published.set(name, loaded)
      if (!isUnchanged(previous, loaded)) this.#publish()
    } catch {
      // The next availability check retries.
      if (!this.#signal.aborted && previous === undefined) this.#published.set(name, at)
    }
  }

  delete(name: string): void {
    if (this.#published.delete(name)) this.#publish()
  }

  /** Fetches missing v2 documents and waits for them for 3 seconds at most. Never rejects. */
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
    const prefix = groupVersionPath(group, version)
    const v3Url = await this.#findV3Url(remote, prefix.slice(1))
    const legacy = v3Url === undefined
    const fetched = legacy || this.#wantsV2 ? await this.#fetchDocument(remote, before) : undefined
    if (fetched === undefined) return { ...at, v3Url: v3Url ?? '' }
    const fields = { ...at, v3Url: v3Url ?? '', hasServerTag: fetched.hasServerTag }
    const { converted, v2 } = before ?? {}
    if (fetched.etag === v2?.etag) return { ...fields, v2, ...(converted === undefined || !legacy ? {} : { converted }) }
    const { document, etag } = fetched as FetchedDocument
    const part = remoteDocument(document, { prefix: `${prefix}/`, etag })
    return { ...fields, v2: part, ...(legacy ? { converted: convertedDocument(document, { prefix, etag }) } : {}) }
  }

  /** @returns undefined for a server without OpenAPI v3, an empty string for one that does not publish this group version. */
  async #findV3Url(remote: RemoteService, name: string): Promise<string | undefined> {
    const response = await this.#fetch(remote, '/openapi/v3')
    if (response.status === 404) return undefined
    if (response.status !== 200) throw new Error(`${remote.id} responded with status ${response.status}`)
    const { paths } = (JSON.parse(response.text) ?? {}) as { readonly paths?: Record<string, { serverRelativeURL?: unknown }> }
    const url = paths !== undefined && Object.hasOwn(paths, name) ? paths[name]?.serverRelativeURL : undefined
    return typeof url === 'string' && url.startsWith(`/openapi/v3/${name}`) ? url : ''
  }

  /** @returns the v2 document, or only its tag when it is unchanged; undefined for a server that publishes none. */
  async #fetchDocument(
    remote: RemoteService,
    before: PublishedVersion | undefined,
  ): Promise<FetchedDocument | Omit<FetchedDocument, 'document'> | undefined> {
    const knownEtag = before?.v2?.etag
    const response = await this.#fetch(remote, '/openapi/v2', before?.hasServerTag === true ? knownEtag : undefined)
    if (response.status === 304 && knownEtag !== undefined) return { etag: knownEtag, hasServerTag: true }
    if (response.status === 404) return undefined
    if (response.status !== 200) throw new Error(`${remote.id} responded with status ${response.status}`)
    const serverEtag = [response.headers.etag ?? []].flat()[0]
    const etag = serverEtag ?? hexText(digest('sha512', [response.text])).toUpperCase()
    const hasServerTag = serverEtag !== undefined
    if (etag === knownEtag) return { etag, hasServerTag }
    const document: unknown = JSON.parse(response.text)
    if (typeof document !== 'object' || document === null) throw new Error(`${remote.id} publishes no OpenAPI document`)
    return { etag, hasServerTag, document: document as JsonObject }
  }

  #fetch(remote: RemoteService, path: string, etag?: string) {
    const headers = { accept: 'application/json', ...(etag === undefined ? {} : { 'if-none-match': etag }) }
    return fetchText(remote, path, { user: openApiUser, headers, signal: this.#signal, clock: this.#clock, ms: downloadMs })
  }

  #publish(): void {
    const all = [...this.#published.values()]
    this.#documents = {
      v3: new Map(all.flatMap(({ v3Url = '', group, version }) => (v3Url === '' ? [] : [[documentName(group, version), v3Url]]))),
      converted: new Map(
        all.flatMap(({ converted, group, version }) =>
          converted === undefined ? [] : [[documentName(group, version), converted]],
        ),
      ),
      v2: all.flatMap(({ v2 }) => v2 ?? []),
    }
  }
}

function isUnchanged(a: PublishedVersion | undefined, b: PublishedVersion): boolean {
  return a !== undefined && a.v3Url === b.v3Url && a.v2 === b.v2 && a.converted === b.converted
}

function convertedDocument(
  document: JsonObject,
  { prefix, etag }: { readonly prefix: string; readonly etag: string },
): ConvertedDocument {
  const hash = hexText(digest('sha512', [`${prefix}\n${etag}`])).toUpperCase()
  return { etag, hash, document: convertToV3(document, [`${prefix}/`]) }
}

const downloadMs = 20_000
/** How long the merged v2 document waits for parts of other servers; a late part is included the next time. */
const v2WaitMs = 3_000
const openApiUser = { username: 'system:aggregator', groups: [] }
