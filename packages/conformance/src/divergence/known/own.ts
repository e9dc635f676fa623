import type { Difference, Divergence } from '../compare.ts'
import type { NormalAnswer } from '../normalize.ts'
import type { KnownDivergence } from './index.ts'

/** Departures on purpose, where the specification is silent. */
export const ownDepartures: readonly KnownDivergence[] = [
  {
    id: 'D45',
    title: 'An update of a claim, job, replication controller or custom resource that changes nothing keeps its resourceVersion',
    reason:
      'kube-apiserver stores a new PersistentVolumeClaim without the default of its phase, and a Job without the labels of its template, and a ReplicationController whose labels were removed without those of its template, and a custom resource without the default of its status, and adds them whenever it reads the object; the next update stores them and gets a new version. krmkit stores objects as it serves them.',
    ends: true,
    matches: ({ at, stock, krmkit }, divergence) =>
      at === 'body.metadata.resourceVersion' &&
      (/\/(persistentvolumeclaims|jobs|replicationcontrollers)\//.test(divergence.step.path) || isFirstStatus(divergence)) &&
      /^<version \d+>$/.test(String(stock)) &&
      /^<version \d+>$/.test(String(krmkit)),
  },
  {
    id: 'D141',
    title: 'An item of a list with several keys may omit some of them',
    reason:
      'The field management of kube-apiserver refuses such an item up to 1.33, with 500 for an apply and the loss of all owners for another write whose validation does not see it, and takes it since 1.34, where only an item without any key is refused; krmkit does so in every release.',
    ends: true,
    matches: ({ at, stock, krmkit }, divergence) =>
      divergence.step.method === 'PATCH' &&
      (at === 'status'
        ? /^500 .* associative list with keys has an element that omits key field /.test(String(stock)) &&
          /^(20[01]|422)( |$)/.test(String(krmkit))
        : losesOwners(divergence) && /^body\.metadata\.(resourceVersion|managedFields)$/.test(at)),
  },
  {
    id: 'D143',
    title: 'A value of the wrong type that validation overlooks keeps the owners of a custom resource',
    reason:
      'The validation of custom resources takes a list for a string with a format. The field management of kube-apiserver cannot read such an object and removes all its owners; krmkit records them, so that an apply goes on to see conflicts.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'body.metadata.managedFields' &&
      stock === '<absent>' &&
      Array.isArray(krmkit) &&
      /^\/apis\/[^/]*example\.com\//.test(step.path) &&
      /"lastTransitionTime":\[/.test(JSON.stringify(step.body)),
  },
  {
    id: 'D158',
    title: 'A creation that fails gives its quota back',
    reason:
      'Admission charges a quota before the object is stored. When the object exists already, kube-apiserver leaves the charge to the next recount of its quota controller; krmkit takes it back.',
    // No generator creates what exists, and an answer does not show that an earlier creation failed: every other difference of usage counts.
    matches: () => false,
  },
  {
    id: 'D159',
    title: 'The server that resolves names is not named',
    reason: 'The library of kube-apiserver adds the address of the name server to its error; that of krmkit does not know it.',
    matches: ({ stock, krmkit }, { step }) =>
      step.path.includes('/apiservices') &&
      String(stock).replaceAll(/( lookup [^ ]+) on [^ ]+(?=: no such host)/g, '$1') === krmkit,
  },
  {
    id: 'D160',
    title: 'A group that an APIService calls local is served when it is there',
    reason:
      'An APIService without a service says that the server has the group itself. kube-apiserver shows the group of such an object whether or not anything is served in it, or refuses a form that it does not have; in krmkit it is 404 until a definition adds it.',
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'status' &&
      /^\/apis\/[^/]*\{id\}\.example\.com\/?$/.test(step.path) &&
      /^(200 APIGroup|406 )/.test(String(stock)) &&
      /^404 /.test(String(krmkit)),
  },
  {
    id: 'D161',
    title: 'Owners of an event survive a write in its other group',
    reason:
      'Events have a type in the core group and one in events.k8s.io, and the field management of kube-apiserver knows only that of the request: it drops every owner of the other one, even where nothing else changes. krmkit converts between them.',
    ends: true,
    matches: ({ at }, { step }) =>
      ['PATCH', 'PUT'].includes(step.method) &&
      /\/namespaces\/[^/]+\/events\//.test(step.path) &&
      /^body\.metadata\.(resourceVersion|managedFields)\b/.test(at),
  },
  {
    id: 'D46',
    title: 'An apply to the status of a missing service or policy is 404',
    reason:
      'kube-apiserver lets a write of the status create a service, without an address, or a ValidatingAdmissionPolicy; everywhere else subresources of missing objects are 404.',
    matches: ({ at, stock, krmkit }, { step }) =>
      /\/(services|validatingadmissionpolicies)\/[^/]+\/status$/.test(step.path) &&
      at === 'status' &&
      /^(201|400|422|500) /.test(String(stock)) &&
      /^404 (services|validatingadmissionpolicies)[ .]/.test(String(krmkit)),
  },
  {
    id: 'D49',
    title: 'The status of services that are only a name hides `internalTrafficPolicy`',
    reason:
      'kube-apiserver stores the policy that such a service had and hides it from all responses but those of its status; krmkit hides it from these too.',
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'body.spec.internalTrafficPolicy' &&
      /\/services\/[^/]+\/status$/.test(step.path) &&
      ['Cluster', 'Local'].includes(String(stock)) &&
      krmkit === '<absent>',
  },
  {
    id: 'D60',
    title: '/version names krmkit',
    reason: 'The version, commit, tree state, build date, compiler and platform are those of the software that runs.',
    matches: ({ at }, { step }) =>
      pathOf(step) === '/version' && /^body\.(git(Version|Commit|TreeState)|buildDate|goVersion|compiler|platform)$/.test(at),
  },
  {
    id: 'D61',
    title: 'A request cannot reset the metrics',
    reason: 'Counters that a client resets mislead every other client that reads them; kube-apiserver resets them on DELETE.',
    matches: ({ at, krmkit }, { step }) =>
      at === 'status' && step.method === 'DELETE' && pathOf(step).startsWith('/metrics') && String(krmkit).startsWith('405 '),
  },
  {
    id: 'D62',
    title: 'Metrics are exposed by another library',
    reason: 'The header with the start time and the escaping parameter of the media type are of the Go library for metrics.',
    matches: (difference, { step }) => pathOf(step).startsWith('/metrics') && isOfMetricsLibrary(difference),
  },
  {
    id: 'D66',
    title: 'Component statuses list the storage alone',
    reason:
      'Scheduler and controller manager are no processes of their own, and the storage need not be etcd: it is `storage-0`.',
    matches: (_, { step, stock }) =>
      /^\/api\/v1\/componentstatuses(\/etcd-0)?$/.test(pathOf(step)) && step.method === 'GET' && stock.status === 200,
  },
  {
    id: 'D144',
    title: 'A test of a JSON patch compares texts',
    reason:
      'RFC 6902 compares values. The library of kube-apiserver compares JSON texts, in which its own encoder escapes <, > and &, so that a test of a text with one of them fails.',
    matches: ({ at }, { step, stock, krmkit }) =>
      at === 'status' && stock.status === 422 && krmkit.status === 200 && isEscapedTest(step.body),
  },
  {
    id: 'D146',
    title: 'A patch of a webhook that changes nothing reinvokes no webhook',
    reason:
      'kube-apiserver compares the object with itself decoded from JSON, which cuts the time of its new managedFields to seconds, and so takes the first patch of a write for a change whatever it does.',
    ends: true,
    matches: ({ at }, { step, stock, krmkit }) =>
      step.path === '{hook}/{id}' && at.startsWith('body.reviews') && isReinvocation(reviewsOf(stock), reviewsOf(krmkit)),
  },
]

interface Review {
  readonly path: string
  readonly review: { readonly request: { readonly object: unknown } }
}

function reviewsOf({ body }: NormalAnswer): readonly Review[] {
  return (body as { reviews?: readonly Review[] } | null)?.reviews ?? []
}

/** Whether kube-apiserver calls some of the same webhooks again with the object that they have seen. */
function isReinvocation(stock: readonly Review[], krmkit: readonly Review[]): boolean {
  const paths = new Set(krmkit.map(({ path }) => path))
  const objects = new Set(stock.map(({ review }) => JSON.stringify(review.request.object)))
  return stock.length > krmkit.length && objects.size === 1 && stock.every(({ path }) => paths.has(path))
}

/** Whether the bodies of a custom resource with a status differ in the version alone, and its spec is that of the creation. */
function isFirstStatus({ step, krmkit: { body }, differences }: Divergence): boolean {
  const { metadata, status } = body as { readonly metadata?: { readonly generation?: number }; readonly status?: unknown }
  return (
    differences.every(({ at }) => at === 'body.metadata.resourceVersion' || at.startsWith('headers.')) &&
    /^\/apis\/[^/]*example\.com\//.test(step.path) &&
    metadata?.generation === 1 &&
    typeof status === 'object'
  )
}

/** Whether a custom resource lost its owners on kube-apiserver alone, with an item in the body that has one key of two. */
function losesOwners({ step, stock, krmkit }: Divergence): boolean {
  const owned = ({ body }: NormalAnswer) => (body as { metadata?: { managedFields?: unknown } }).metadata?.managedFields
  return (
    /^\/apis\/[^/]*example\.com\//.test(step.path) &&
    owned(stock) === undefined &&
    owned(krmkit) !== undefined &&
    /[[,]\{"port":\d+\}/.test(JSON.stringify(step.body))
  )
}

/** Whether a JSON patch tests a text that Go's encoder escapes. */
function isEscapedTest(body: Divergence['step']['body']): boolean {
  const operations = body !== undefined && 'json' in body ? body.json : undefined
  return (
    Array.isArray(operations) &&
    operations.some((operation) => {
      const { op, value } = operation as { readonly op?: unknown; readonly value?: unknown }
      return op === 'test' && typeof value === 'string' && /[<>&]/.test(value)
    })
  )
}

function isOfMetricsLibrary({ at, stock }: Difference): boolean {
  return (
    at === 'headers.process-start-time-unix' ||
    (at === 'headers.content-type' && String(stock).endsWith('; escaping=underscores'))
  )
}

/** The path of a step, without query and trailing slash. */
function pathOf({ path }: Divergence['step']): string {
  return path.replace(/\/?(\?.*)?$/, '')
}
