import { RandomChoices } from '@krmkit/base/random-choices'

/** Requests of all sizes for kept connections, each derived from a seed and an index. */

export interface KeptRequest {
  readonly index: number
  readonly method: string
  readonly target: string
  /** Besides the length. The response repeats `audit-id`, the index. */
  readonly headers: Readonly<Record<string, string>>
  /** The parts of the body; none without one. */
  readonly body: readonly Uint8Array[]
  readonly statuses: readonly number[]
  /** Bytes of the body of the response; undefined when unknown or compressed. */
  readonly answerBytes: number | undefined
}

/** Derives requests from seed and index. */
export type RequestSource = (seed: number, index: number) => KeptRequest

const KiB = 1024
const MiB = 1024 * KiB
/** The content of all bodies. */
export const filler = Buffer.alloc(3 * MiB, 'x')
/** A longer body that stays unread closes the connection. */
const unreadBytes = 200 * KiB

/** Sizes up to the largest body; most are small. */
function sizeOf(random: RandomChoices, largest: number): number {
  const share = random.below(10_000)
  const limit =
    share < 2000 ? 1 : share < 7500 ? 1200 : share < 9300 ? 20 * KiB : share < 9900 ? 170 * KiB : share < 9985 ? MiB : 3 * MiB
  return random.below(Math.min(limit, largest) + 1)
}

/** How the handler of `responses.ts` answers. */
export const answerKinds = ['bytes', 'late', 'wide', 'list', 'stream', 'refused', 'unread'] as const

/** For the handler of `responses.ts`. */
export const echoRequest: RequestSource = (seed, index) => {
  const random = new RandomChoices(seed, index)
  const kind = random.pick(answerKinds)
  const method = random.pick(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'])
  const isUnread = kind === 'refused' || kind === 'unread'
  const size = random.chance(25) ? 0 : sizeOf(random, isUnread ? unreadBytes : filler.length)
  const answerBytes = random.chance(10) ? 0 : sizeOf(random, filler.length)
  const isCoded = random.chance(10)
  return {
    index,
    method,
    target: `/${kind}?bytes=${answerBytes}`,
    headers: { 'audit-id': String(index), ...(isCoded ? { 'accept-encoding': 'gzip' } : {}) },
    body: size === 0 ? [] : [filler.subarray(0, size)],
    statuses: [kind === 'refused' ? 401 : 200],
    answerBytes: method === 'HEAD' ? 0 : isCoded ? undefined : answerBytes,
  }
}

const collection = '/api/v1/namespaces/default/configmaps'
/** Sizes of the stored ConfigMaps. */
export const storedSizes = [0, 900, 20 * KiB, 300 * KiB, MiB - 10 * KiB]

export function configMapBody(name: string, size: number): readonly Uint8Array[] {
  const start = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"},"data":{"a":"`
  return [Buffer.from(start), filler.subarray(0, size), Buffer.from('"}}')]
}

/** For a complete server with the ConfigMaps of `storedSizes`. Writes are dry runs. */
export const apiRequest: RequestSource = (seed, index) => {
  const random = new RandomChoices(seed, index)
  const stored = `stored-${random.below(storedSizes.length)}`
  const size = sizeOf(random, filler.length - KiB)
  const unread = () => sizeOf(random, unreadBytes)
  // A large ConfigMap is invalid, and too many requests at once are refused: all are answers.
  const written = [200, 201, 413, 422, 429]
  const [method, target, body, statuses] = random.pick<() => [string, string, readonly Uint8Array[], readonly number[]]>([
    () => ['POST', `${collection}?dryRun=All`, configMapBody(`new-${index}`, size), written],
    () => ['POST', `${collection}?dryRun=All`, configMapBody(`new-${index}`, size), written],
    () => ['PUT', `${collection}/${stored}?dryRun=All`, configMapBody(stored, size), written],
    () => ['PATCH', `${collection}/${stored}?dryRun=All`, configMapBody(stored, size), written],
    () => ['DELETE', `${collection}/missing-${index}`, [], [404, 429]],
    () => ['GET', `${collection}/${stored}`, [], [200, 429]],
    () => ['GET', `${collection}/${stored}`, [], [200, 429]],
    () => ['HEAD', `${collection}/${stored}`, [], [405]],
    () => ['GET', `${collection}?limit=3`, [], [200, 429]],
    () => ['POST', `${collection}?dryRun=All`, [filler.subarray(0, unread())], [401]],
  ])()
  return {
    index,
    method,
    target,
    headers: {
      'audit-id': String(index),
      authorization: statuses.includes(401) ? 'Bearer unknown-token' : 'Bearer admin-token-0123456789',
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
      ...(random.chance(10) ? { 'accept-encoding': 'gzip' } : {}),
    },
    body: body.filter(({ length }) => length > 0),
    statuses,
    answerBytes: method === 'HEAD' ? 0 : undefined,
  }
}
