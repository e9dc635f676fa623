import type { JournalEntry } from './cluster.ts'

/** The state of the playground in the fragment of its URL: compressed JSON, in the letters of URLs. */

export interface SharedState {
  readonly release: string
  readonly namespace: string
  readonly manifests: string
  /** Number of simulated nodes; absent in links of earlier versions. */
  readonly nodes?: number
  /** The writes to repeat. */
  readonly journal: readonly JournalEntry[]
}

/** Text of a decompressed link may not be longer, so that a link cannot fill the memory. */
const maxBytes = 4 * 1024 * 1024

/** Compresses a state: `#1...`. */
export async function writeFragment(state: SharedState): Promise<string> {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(state)), new CompressionStream('deflate-raw'))
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return `#1${btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`
}

/** Reads a fragment; undefined when it is empty. @throws Error when it is damaged. */
export async function readFragment(fragment: string): Promise<SharedState | undefined> {
  if (fragment === '' || fragment === '#') return undefined
  if (!fragment.startsWith('#1')) throw new Error('the link has an unknown format')
  const bytes = await through(decoded(fragment.slice(2)), new DecompressionStream('deflate-raw'))
  const value = JSON.parse(new TextDecoder().decode(bytes)) as Partial<SharedState> | null
  const { release, namespace, manifests, nodes = 0, journal } = value ?? {}
  const isState = [release, namespace, manifests].every((each) => typeof each === 'string') && Array.isArray(journal)
  if (!isState || !isNodeCount(nodes) || !journal.every(isEntry)) throw new Error('the link is damaged')
  return value as SharedState
}

const maxNodes = 10

function isNodeCount(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= maxNodes
}

function isEntry(entry: unknown): boolean {
  const { method, path } = (entry ?? {}) as Partial<JournalEntry>
  return typeof method === 'string' && typeof path === 'string' && path.startsWith('/')
}

function decoded(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  return Uint8Array.from(binary, (char) => char.charCodeAt(0))
}

async function through(bytes: Uint8Array<ArrayBuffer>, transform: CompressionStream | DecompressionStream): Promise<Uint8Array> {
  const reader = new Blob([bytes]).stream().pipeThrough(transform).getReader()
  const parts: number[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return Uint8Array.from(parts)
    if (parts.length + value.length > maxBytes) throw new Error('the link is too long')
    for (const byte of value) parts.push(byte)
  }
}
