import type { Difference } from '../compare.ts'
import type { NormalAnswer } from '../normalize.ts'
import type { Step } from '../scenario.ts'
import type { KnownDivergence } from './index.ts'

/** Divergences that the specification asks for. */
export const bySpecification: readonly KnownDivergence[] = [
  {
    id: 'D1',
    title: 'A list that ends carries `continue: ""`',
    reason: 'API protocol 2.3: the continue token at the end of a list is the empty string; kube-apiserver omits the member.',
    matches: ({ at, stock, krmkit }) => at === 'body.metadata.continue' && stock === '<absent>' && krmkit === '',
  },
  {
    id: 'D2',
    title: 'Impossible list options are 400',
    reason:
      'API protocol 4.2 and 7: combinations of resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents that make no sense are 400; kube-apiserver answers 422.',
    matches: (difference) => statuses(difference, 422, 400) && /^422 ListOptions\.meta\.k8s\.io/.test(String(difference.stock)),
  },
  {
    id: 'D3',
    title: 'Undecodable and unknown fields in patches are 400',
    reason:
      'API protocol 4.6: a type error, and an unknown or repeated field at level Strict, is 400 for every verb; kube-apiserver answers 422 to PATCH.',
    matches: (difference, { step }) =>
      step.method === 'PATCH' &&
      statuses(difference, 422, 400) &&
      /strict decoding error|cannot unmarshal|unmarshalerDecoder|unable to decode|decode patch/.test(String(difference.stock)),
  },
  {
    id: 'D4',
    title: 'Invalid requests are 400, not 500',
    reason:
      'API protocol 7: a request that cannot be read is 400. kube-apiserver answers 500 to a resourceVersion with letters, to wrong types and duplicate keys in apply, to unknown `$patch` directives and to items of keyed lists without their key.',
    matches: (difference) => statuses(difference, 500, 400),
  },
  {
    id: 'D183',
    title: 'A POST to the path of a custom resource is 405',
    reason:
      'API protocol 4: objects are created at the path of their collection. kube-apiserver takes a POST to the path of a custom resource, allows it by the name in the path, and creates the object that the body names: a role that may create one named object creates any.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      step.method === 'POST' &&
      step.path.startsWith('/apis/') &&
      at === 'status' &&
      /^(201|400|409|422) /.test(String(stock)) &&
      String(krmkit).startsWith('405 '),
  },
  {
    id: 'D5',
    title: 'deletecollection answers a Status',
    reason:
      'Configuration and storage 4: the answer to the deletion of a collection is a Status; kube-apiserver answers the list of what it deleted.',
    matches: (_, { step, stock, krmkit }) =>
      step.method === 'DELETE' && kindOf(stock).endsWith('List') && kindOf(krmkit) === 'Status',
  },
  {
    id: 'D6',
    title: 'The deletion of a ConfigMap or Secret answers a Status',
    reason:
      'Configuration and storage 4: the answer is a Status also while finalizers hold the object and in dry runs, where kube-apiserver answers the object.',
    matches: (_, { step, stock, krmkit }) =>
      step.method === 'DELETE' && ['ConfigMap', 'Secret'].includes(kindOf(stock)) && kindOf(krmkit) === 'Status',
  },
  {
    id: 'D33',
    title: 'The status of a claim has `resizeStatus`',
    reason:
      'Storage specification, S63: the member exists; to kube-apiserver it is unknown, so it warns and drops it, or refuses it at level Strict.',
    ends: true,
    matches: (difference, { step }) =>
      /\/(persistentvolumeclaims|statefulsets)(\/|$)/.test(step.path) &&
      String(JSON.stringify(step.body)).includes('"resizeStatus":') &&
      isOfResizeStatus(difference),
  },
  {
    id: 'D63',
    title: 'Invalid bindings are 422',
    reason:
      'API protocol 7: what can be read but breaks a rule is Invalid. kube-apiserver answers 500 to a binding with another kind of target or without a name.',
    matches: (difference, { step }) =>
      /\/(binding|bindings)$/.test(step.path) &&
      statuses(difference, 500, 422) &&
      /^500 \[?target\./.test(String(difference.stock)),
  },
  {
    id: 'D147',
    title: 'A limited list of one name at a version is exact',
    reason:
      'API protocol 4.2, P173: a list with a limit and a version is that of the version. With a field selector on metadata.name kube-apiserver reads the newest object instead.',
    matches: ({ at }, { step }) => {
      const query = new URLSearchParams(typeof step.query === 'string' ? step.query : step.query?.map((pair) => [...pair]))
      return (
        step.method === 'GET' &&
        /^body\.(items|rows)\b/.test(at) &&
        query.has('limit') &&
        query.has('resourceVersion') &&
        !query.has('resourceVersionMatch') &&
        /(^|,)metadata\.name=/.test(query.get('fieldSelector') ?? '')
      )
    },
  },
  {
    id: 'D64',
    title: 'Lists of a version that is not reached are 504 with Retry-After',
    reason:
      'API protocol 4.2 and 7: the answer to an unknown version is 504, with the time after which to try again; for `Exact`, a limit or a continue token kube-apiserver answers 500, and 504 without the time for versions beyond 63 bits.',
    matches: (difference, { stock, krmkit }) =>
      /Too large resource version/.test(messageOf(krmkit)) &&
      ((statuses(difference, 500, 504) && String(difference.stock).endsWith('required revision is a future revision')) ||
        (stock.status === 504 &&
          /^headers\.retry-after$|\.details\.retryAfterSeconds$/.test(difference.at) &&
          difference.stock === '<absent>')),
  },
  {
    id: 'D152',
    title: '`dryRun` without a value is an ordinary request',
    reason: 'API protocol 4.1 and 4.5: an empty value is no value. kube-apiserver refuses it with 422.',
    ends: true,
    matches: ({ at }, { step, stock: { status, body } }) =>
      hasEmptyDryRun(step.query) &&
      (at === 'status' || at.startsWith('body.')) &&
      status === 422 &&
      /dryRun: Unsupported value: \[\]string\{[^}]*""/.test((body as { readonly message?: string } | undefined)?.message ?? ''),
  },
  {
    id: 'D65',
    title: 'A number beyond 32 bits in a strategic merge patch or in the apply of a scale is 400',
    reason: 'API protocol 4.6: a value that its type cannot hold is 400; kube-apiserver keeps the lower 32 bits and judges them.',
    matches: ({ at, krmkit }, { step }) =>
      at === 'status' &&
      step.method === 'PATCH' &&
      (step.path.endsWith('/scale') || String(step.headers?.['content-type']).includes('strategic-merge')) &&
      /^400 .*cannot unmarshal number/.test(String(krmkit)),
  },
]

/** Whether a query has the parameter `dryRun` without a value. */
function hasEmptyDryRun(query: Step['query']): boolean {
  if (typeof query === 'string') return /(^|&)dryRun(=?&|=?$)/.test(query)
  return (query ?? []).some(([name, value]) => name === 'dryRun' && value === '')
}

function kindOf({ body }: NormalAnswer): string {
  const { kind } = (body ?? {}) as { kind?: unknown }
  return typeof kind === 'string' ? kind : ''
}

/** A member whose own difference, or whose owner, is `resizeStatus`; the templates of a StatefulSet have one too. */
function isOfResizeStatus({ at, stock, krmkit }: Difference): boolean {
  if (at === 'status') return /^400 .*strict decoding error: unknown field "[\w.[\]]*status\.resizeStatus"$/.test(String(stock))
  if (at === 'headers.warning') return /unknown field \\"[\w.[\]]*status\.resizeStatus\\"/.test(String(stock))
  if (/^body\.([\w.]*\.)?status\.resizeStatus$/.test(at) || at === 'body.metadata.resourceVersion') return true
  if (at.startsWith('body.status')) return stock === '<absent>' && Object.keys(krmkit as object).join() === 'resizeStatus'
  // An additional owner moves the entries after it.
  return at.startsWith('body.metadata.managedFields')
}

/** The message of a refusal, which protobuf has in its envelope. */
function messageOf({ body }: NormalAnswer): string {
  const { message, object } = (body ?? {}) as { readonly message?: string; readonly object?: { readonly message?: string } }
  return String(message ?? object?.message)
}

function statuses({ at, stock, krmkit }: Difference, theirs: number, ours: number): boolean {
  return at === 'status' && String(stock).startsWith(`${theirs} `) && String(krmkit).startsWith(`${ours} `)
}
