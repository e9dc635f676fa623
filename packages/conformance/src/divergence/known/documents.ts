import type { Difference, Divergence } from '../compare.ts'
import type { NormalAnswer } from '../normalize.ts'
import type { KnownDivergence } from './index.ts'

function isBookmark({ events }: NormalAnswer, position: number): boolean {
  return (events?.[position] as { readonly type?: string } | undefined)?.type === 'BOOKMARK'
}

/** Departures on purpose in reads and in documents. */
export const documentDepartures: readonly KnownDivergence[] = [
  {
    id: 'D163',
    title: 'A bookmark has only a version',
    reason:
      'Kubernetes API Concepts, "Watch bookmarks": the object includes only a resourceVersion. kube-apiserver adds the members that its types print without a value.',
    matches: ({ at, stock, krmkit }, answers) => {
      const [, position = '', member = ''] = /^events\.(\d+)\.object\.(.+)$/.exec(at) ?? []
      if (![answers.stock, answers.krmkit].every((answer) => isBookmark(answer, Number(position)))) return false
      return krmkit === '<absent>' && (member !== 'metadata.creationTimestamp' || stock === '<null>')
    },
  },
  {
    id: 'D162',
    title: 'A watch of a Table names its columns once',
    reason:
      'Only the first event of a watch has column definitions. Watches of kube-apiserver share encoded events: one whose first event another watch has encoded already takes its second for the first, and names the columns again.',
    matches: ({ at, stock, krmkit }, { step }) =>
      /^events\.[1-9]\d*\.object\.columnDefinitions$/.test(at) &&
      String(step.headers?.['accept']).includes('as=Table') &&
      Array.isArray(stock) &&
      krmkit === '<null>',
  },
  {
    id: 'D80',
    title: 'Streaming lists are served',
    reason:
      'Kubernetes API Concepts, "Streaming lists": `sendInitialEvents` is served without a feature gate, and clients that use it need less memory. kube-apiserver 1.33 refuses it while its gate WatchList is off.',
    matches: ({ at, stock }, { step }) =>
      at === 'status' &&
      String(stock).startsWith('422 ') &&
      String(stock).includes('sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled') &&
      (Array.isArray(step.query) ? step.query.some(([name]) => name === 'sendInitialEvents') : false),
  },
  {
    id: 'D70',
    title: 'A limit holds for any version',
    reason: 'API protocol 4.3: a list has at most `limit` items; for resourceVersion 0 kube-apiserver ignores the limit.',
    ends: true,
    matches: ({ at }, { step, stock, krmkit }) =>
      step.method === 'GET' &&
      stock.status === 200 &&
      krmkit.status === 200 &&
      parameterOf(step, 'resourceVersion') === '0' &&
      Number(parameterOf(step, 'limit')) > 0 &&
      /^body(\.object)?\.(metadata\.(continue|remainingItemCount)|items\.|rows\.)/.test(at),
  },
  {
    id: 'D81',
    title: "Descriptions in OpenAPI documents and Tables are krmkit's own",
    reason:
      'Descriptions are prose, which krmkit writes itself. The comparison leaves their texts out; some fields that have none on one server have one on the other. The hashes and tags of the documents differ with them.',
    matches: ({ at, stock, krmkit }, { step }) =>
      isOpenApi(step) && at.endsWith('.description') && [stock, krmkit].includes('<description>'),
  },
  {
    id: 'D82',
    title: 'Headers of OpenAPI documents',
    reason:
      'The Go file server, which kube-apiserver answers with, announces byte ranges, guesses the type of the index to be plain text and gives it no tag, so that it cannot be asked for with If-None-Match, and no type in a refusal; and its Expires names UTC, where HTTP requires GMT. krmkit sends documents whole, the index as JSON with a tag, and names Accept-Encoding in Vary, because a cache must not give a compressed document to a client that cannot read it.',
    matches: ({ at, stock, krmkit }, { step }) =>
      isOpenApi(step) && (isOfFileServer(at, stock, krmkit) || isOfUntaggedIndex(step, at, stock, krmkit)),
  },
  {
    id: 'D83',
    title: 'Storage versions of definitions, ServiceCIDR and IPAddress',
    reason:
      'kube-apiserver still stores these three kinds as v1beta1 so that it can be rolled back to releases without v1. krmkit has no such releases and stores v1; the opaque hash of the storage version differs.',
    matches: ({ at, stock }) =>
      /\.storageVersionHash$/.test(at) && ['jfWCUB31mvA=', 'O4H8VxQhW5Y=', '8ufAXOnr3Yg='].includes(String(stock)),
  },
  {
    id: 'D85',
    title: '`status.resizeStatus` of claims',
    reason:
      'Configuration and storage 2.4 has this member, which later releases replaced by allocatedResourceStatuses; krmkit has both.',
    matches: ({ at }, { step }) => isOpenApi(step) && /PersistentVolumeClaimStatus\.properties\.resizeStatus$/.test(at),
  },
  {
    id: 'D86',
    title: 'A protobuf envelope may contain JSON',
    reason:
      'API protocol 2.6: the contentType of the envelope names the encoding of its content; kube-apiserver takes it for protobuf in any case.',
    matches: (_, { step }) =>
      step.body !== undefined && 'protobuf' in step.body && step.body.protobuf.envelope?.contentType === 'application/json',
  },
  {
    id: 'D84',
    title: 'Aggregated discovery is served as v2beta1 too',
    reason:
      'Clients of 1.26 to 1.29 ask for v2beta1; its content equals v2. kube-apiserver 1.33 has removed it and answers in another form.',
    matches: (_, { step }) => /v=v2beta1/.test(String(step.headers?.['accept'] ?? '')) && /^\/apis?\/?$/.test(step.path),
  },
]

/** The first value of a query parameter, which counts. */
function parameterOf({ query }: Divergence['step'], name: string): string | undefined {
  return Array.isArray(query) ? query.find(([each]) => each === name)?.[1] : undefined
}

function isOpenApi({ path }: Divergence['step']): boolean {
  return path.startsWith('/openapi/') || path.startsWith('{index.')
}

function isOfFileServer(at: Difference['at'], stock: unknown, krmkit: unknown): boolean {
  switch (at) {
    case 'headers.accept-ranges':
      return stock === 'bytes' && krmkit === '<absent>'
    case 'headers.content-type':
      return stock === 'text/plain; charset=utf-8' && krmkit === 'application/json'
    case 'headers.etag':
      return stock === '<absent>'
    case 'headers.vary':
      return String(krmkit).includes('Accept')
    case 'headers.expires':
      return String(stock).replace('UTC', 'GMT') === krmkit
    case 'status':
      return stock === '200 ' && krmkit === '304 '
    default:
      return false
  }
}

/** Without a tag a 304 has Last-Modified, a 412 no type, and If-Match never holds. */
function isOfUntaggedIndex({ path }: Divergence['step'], at: string, stock: unknown, krmkit: unknown): boolean {
  if (path !== '/openapi/v3') return false
  if (at === 'status') return stock === '412 ' && krmkit === '200 '
  if (at === 'headers.last-modified') return stock === '<present>' && krmkit === '<absent>'
  return at === 'headers.content-type' && stock === '<absent>' && krmkit === 'application/json'
}
