import type { Clock, Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { ApiResponse } from '@krmkit/protocol'
import { parseAccept } from '../media/negotiation.ts'
import { textResponse } from '../media/response-writer.ts'

/** The debug pages `/statusz` and `/flagz`, in the text form of kube-apiserver, each behind a feature gate. */

export interface ZPagesOptions {
  readonly features: Features
  readonly clock: Pick<Clock, 'now'>
  /** Names and values of the flags of the process. Absent: `/flagz` is not served. */
  readonly flags?: Readonly<Record<string, string>> | undefined
  /** Version of the language runtime, such as `node24.1.0`. */
  readonly runtime: string
  /** Release of the API, as `1.33`. */
  readonly newest: string
}

/** Serves one path, for a client that accepts `accept`; undefined for other paths and pages whose gate is off. */
export type ZPages = (path: string, accept: string | undefined) => ApiResponse | undefined

const component = 'kube-apiserver'
const warning =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.'

/** Creates the pages; their paths are listed by {@link zPagePaths}. */
export function createZPages(options: ZPagesOptions): ZPages {
  const started = options.clock.now()
  const pages = new Map<string, () => string>()
  if (hasPage('/statusz', options)) pages.set('/statusz', () => statusz(started, options))
  if (hasPage('/flagz', options)) pages.set('/flagz', () => flagz(options.flags ?? {}))
  return (path, accept) => {
    const page = pages.get(path)
    if (page === undefined) return undefined
    return acceptsText(accept) ? textResponse(200, page()) : textResponse(406, 'media type not acceptable, must be: text/plain\n')
  }
}

/** The paths of the pages that are served. */
export function zPagePaths(options: Pick<ZPagesOptions, 'features' | 'flags'>): string[] {
  return ['/flagz', '/statusz'].filter((path) => hasPage(path, options))
}

function hasPage(path: string, { features, flags }: Pick<ZPagesOptions, 'features' | 'flags'>): boolean {
  if (path === '/flagz') return flags !== undefined && gateEnabled('ComponentFlagz', features)
  return gateEnabled('ComponentStatusz', features)
}

function statusz(started: number, { clock, features, newest, runtime }: ZPagesOptions): string {
  const seconds = Math.floor((clock.now() - started) / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  const up = `${Math.floor(seconds / 3600)} hr ${two(Math.floor(seconds / 60) % 60)} min ${two(seconds % 60)} sec`
  const lines = [
    `Started: ${new Date(started).toUTCString()}`,
    `Up: ${up}`,
    `Go version: ${runtime}`,
    `Binary version: ${newest}`,
    `Emulation version: ${features.release.version}`,
  ]
  return `\n${component} statusz\n${warning}\n\n${lines.join('\n')}\n`
}

function flagz(flags: Readonly<Record<string, string>>): string {
  const lines = Object.keys(flags)
    .sort()
    .map((name) => `${name}=${flags[name]}\n`)
  return `\n${component} flags\n${warning}\n\n${lines.join('')}`
}

function acceptsText(accept: string | undefined): boolean {
  return parseAccept(accept ?? '').some(({ type, subtype, parameters }) => {
    if (!((type === 'text' || type === '*') && (subtype === 'plain' || subtype === '*'))) return false
    const names = [...parameters.keys()].filter((name) => name !== 'q')
    return names.every((name) => name === 'charset' && parameters.get(name)?.toLowerCase() === 'utf-8')
  })
}
