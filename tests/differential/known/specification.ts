import type { Difference } from '../compare.ts'
import type { NormalAnswer } from '../normalize.ts'
import type { KnownDivergence } from './index.ts'

/** Divergences that the specification asks for. */
export const bySpecification: readonly KnownDivergence[] = [
  {
    id: 'D1',
    title: 'A list that ends carries `continue: ""`',
    reason: 'API protocol 2.3: the continue token at the end of a list is the empty string; the stock server omits the member.',
    matches: ({ at, stock, krmkit }) => at === 'body.metadata.continue' && stock === '<absent>' && krmkit === '',
  },
  {
    id: 'D2',
    title: 'Impossible list options are 400',
    reason:
      'API protocol 4.2 and 7: combinations of resourceVersion, resourceVersionMatch, limit, continue and sendInitialEvents that make no sense are 400; the stock server answers 422.',
    matches: (difference) => statuses(difference, 422, 400) && /^422 ListOptions\.meta\.k8s\.io/.test(String(difference.stock)),
  },
  {
    id: 'D3',
    title: 'Undecodable and unknown fields in patches are 400',
    reason:
      'API protocol 4.6: a type error, and an unknown or repeated field at level Strict, is 400 for every verb; the stock server answers 422 to PATCH.',
    matches: (difference, { step }) =>
      step.method === 'PATCH' &&
      statuses(difference, 422, 400) &&
      /strict decoding error|cannot unmarshal|unmarshalerDecoder|unable to decode|decode patch/.test(String(difference.stock)),
  },
  {
    id: 'D4',
    title: 'Invalid requests are 400, not 500',
    reason:
      'API protocol 7: a request that cannot be read is 400. The stock server answers 500 to a resourceVersion with letters, to wrong types and duplicate keys in apply, to unknown `$patch` directives and to items of keyed lists without their key.',
    matches: (difference) => statuses(difference, 500, 400),
  },
  {
    id: 'D5',
    title: 'deletecollection answers a Status',
    reason:
      'Configuration and storage 4: the answer to the deletion of a collection is a Status; the stock server answers the list of what it deleted.',
    matches: (_, { step, stock, krmkit }) =>
      step.method === 'DELETE' && kindOf(stock).endsWith('List') && kindOf(krmkit) === 'Status',
  },
  {
    id: 'D6',
    title: 'The deletion of a ConfigMap or Secret answers a Status',
    reason:
      'Configuration and storage 4: the answer is a Status also while finalizers hold the object and in dry runs, where the stock server answers the object.',
    matches: (_, { step, stock, krmkit }) =>
      step.method === 'DELETE' && ['ConfigMap', 'Secret'].includes(kindOf(stock)) && kindOf(krmkit) === 'Status',
  },
  {
    id: 'D23',
    title: 'The status of a VolumeAttachment must say whether it is attached',
    reason: 'Storage specification, S88: `status.attached` is required; the stock server reads a missing member as false.',
    matches: (_, { step, krmkit }) =>
      /\/volumeattachments\/[^/]+\/status$/.test(step.path) && messageOf(krmkit).endsWith('status.attached: Required value'),
  },
  {
    id: 'D29',
    title: 'The specification of a CSIDriver is required',
    reason: 'Storage specification, S92: a body without `spec` is 422; the stock server reads a missing one as empty.',
    matches: (_, { step, krmkit }) => step.path.includes('/csidrivers') && messageOf(krmkit).endsWith('spec: Required value'),
  },
  {
    id: 'D30',
    title: 'The group policy of a CSIDriver is immutable',
    reason: 'Storage specification, S95: `fsGroupPolicy` cannot change; on the stock server it can.',
    matches: (_, { step, krmkit }) =>
      step.path.includes('/csidrivers/') && /spec\.fsGroupPolicy: Invalid value: .*: field is immutable/.test(messageOf(krmkit)),
  },
  {
    id: 'D32',
    title: 'Names of CSI drivers have at most 63 characters',
    reason:
      'Storage specification, S90: the name of a CSIDriver is limited as the driver itself is; the stock server takes longer ones.',
    matches: (_, { step, krmkit }) =>
      step.path.endsWith('/csidrivers') && messageOf(krmkit).includes('metadata.name: Too long: may not be more than 63 bytes'),
  },
  {
    id: 'D33',
    title: 'The status of a claim has `resizeStatus`',
    reason: 'Storage specification, S63: the member exists; to the stock server it is unknown, so it warns and drops it.',
    ends: true,
    matches: ({ at }, { step }) =>
      /\/persistentvolumeclaims\/[^/]+\/status$/.test(step.path) &&
      JSON.stringify(step.body).includes('"resizeStatus":') &&
      /^(headers\.warning|body\.status\.resizeStatus|body\.metadata\.(managedFields|resourceVersion))/.test(at),
  },
  {
    id: 'D34',
    title: 'Required members of ScaleIO and StorageOS volumes',
    reason:
      'Storage specification, S50 and S51: the secret of a ScaleIO volume is required and volume names are optional; the stock server has it the other way round.',
    matches: (_, { stock, krmkit }) =>
      stock.status === 422 &&
      krmkit.status === 422 &&
      /scaleIO\.(secretRef|volumeName|storageMode)|storageos\.volumeName/.test(messageOf(stock) + messageOf(krmkit)),
  },
  {
    id: 'D31',
    title: 'Conditions of a claim need type and status',
    reason:
      'Storage specification, S65: each condition in the status of a claim has a type and a status; the stock server takes others.',
    matches: (_, { step, krmkit }) =>
      /\/persistentvolumeclaims\/[^/]+\/status$/.test(step.path) &&
      /status\.conditions\[\d+\]\.(type|status): Required value/.test(messageOf(krmkit)),
  },
  {
    id: 'D63',
    title: 'Invalid bindings are 422',
    reason:
      'API protocol 7: what can be read but breaks a rule is Invalid. The stock server answers 500 to a binding with another kind of target or without a name.',
    matches: (difference, { step }) =>
      /\/(binding|bindings)$/.test(step.path) &&
      statuses(difference, 500, 422) &&
      /^500 \[?target\./.test(String(difference.stock)),
  },
  {
    id: 'D65',
    title: 'A number beyond 32 bits in the apply of a scale is 400',
    reason:
      'API protocol 4.6: a value that its type cannot hold is 400; the stock server keeps the lower 32 bits and judges them.',
    matches: ({ at, krmkit }, { step }) =>
      at === 'status' &&
      step.method === 'PATCH' &&
      step.path.endsWith('/scale') &&
      /^400 .*cannot unmarshal number/.test(String(krmkit)),
  },
]

function kindOf({ body }: NormalAnswer): string {
  const { kind } = (body ?? {}) as { kind?: unknown }
  return typeof kind === 'string' ? kind : ''
}

/** The message of a refusal. */
function messageOf({ body }: NormalAnswer): string {
  return String((body as { readonly message?: string } | null)?.message)
}

function statuses({ at, stock, krmkit }: Difference, theirs: number, ours: number): boolean {
  return at === 'status' && String(stock).startsWith(`${theirs} `) && String(krmkit).startsWith(`${ours} `)
}
