/**
 * Maps keys to etcd: below a root, by the path of their collection.
 *
 *     /core/services/shop/web       /registry/services/specs/shop/web
 *     /core/configmaps/shop/web     /registry/configmaps/shop/web
 *     /example.com/widgets/shop/a   /registry/example.com/widgets/shop/a
 */
import type { StoredCollection } from '../follower/stored-form.ts'

/** The root of kube-apiserver. */
export const defaultPrefix = '/registry'

export class Layout {
  readonly #root: string
  readonly #pathOf: ReadonlyMap<string, string>
  readonly #prefixOf: ReadonlyMap<string, string>
  readonly #encoder = new TextEncoder()
  readonly #decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

  /** @param root `/registry`; a missing leading slash is added, as kube-apiserver does */
  constructor(root: string, collections: readonly StoredCollection[] = []) {
    const trimmed = root.replace(/^\/+|\/+$/g, '')
    this.#root = trimmed === '' ? '/' : `/${trimmed}/`
    this.#pathOf = new Map(collections.map(({ prefix, path }) => [prefix, path]))
    this.#prefixOf = new Map(collections.map(({ prefix, path }) => [path, prefix]))
  }

  /** Prefix of every key in etcd. */
  get root(): Uint8Array {
    return this.#encoder.encode(this.#root)
  }

  /** The key in etcd. */
  toEtcd(key: string): Uint8Array {
    const end = endOfSegments(key, 1, 2)
    const path = this.#pathOf.get(key.slice(0, end))
    return this.#encoder.encode(this.#root + (path === undefined ? key.slice(1) : path + key.slice(end)))
  }

  /** The key in the store; `undefined` for a key of another program. */
  fromEtcd(bytes: Uint8Array): string | undefined {
    let text: string
    try {
      text = this.#decoder.decode(bytes)
    } catch {
      return undefined
    }
    if (!text.startsWith(this.#root) || text.endsWith('/') || text.includes('\0')) return undefined
    const rest = text.slice(this.#root.length)
    if (rest === '') return undefined
    for (const segments of [2, 1]) {
      const end = endOfSegments(rest, 0, segments)
      const prefix = this.#prefixOf.get(rest.slice(0, end))
      if (prefix !== undefined) return prefix + rest.slice(end)
    }
    return `/${rest}`
  }
}

/** Position after `count` segments with their slashes; the length of the text when there are fewer. */
function endOfSegments(text: string, start: number, count: number): number {
  let at = start
  for (let segment = 0; segment < count; segment++) {
    const slash = text.indexOf('/', at)
    if (slash === -1) return text.length
    at = slash + 1
  }
  return at
}
