import type { Difference } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Departures on purpose in validation, its texts and the canonical form of objects. */
export const bodyDepartures: readonly KnownDivergence[] = [
  {
    id: 'D20',
    title: 'Differences of Go structs have plain spaces and canonical quantities',
    reason:
      'The Go library of kube-apiserver chooses at the start of the process between spaces and non-breaking ones. It prints the parts of a quantity as it was written, and no parts of one that is null; quantities are kept in their canonical form.',
    matches: (difference) => sameText(difference, plainDiffs),
  },
  {
    id: 'D21',
    title: 'Empty maps and lists in printed Go values are nil',
    reason:
      'Objects are validated in their canonical JSON form, in which an empty map or list is absent; Go tells them apart in what it prints into messages.',
    matches: (difference) => sameText(difference, stripEmpties) || differsWithin(difference),
  },
  {
    id: 'D22',
    title: 'Syntax errors of expressions have the words of another parser',
    reason:
      'The texts after `Syntax error:` come from the parser generator of kube-apiserver and list its internal expectations; the expression and the field are equal.',
    matches: (difference) => sameText(difference, stripSyntaxErrors),
  },
  {
    id: 'D24',
    title: 'A service whose name cannot be a reference is invalid, not an internal error',
    reason:
      'kube-apiserver allocates the address before it validates the service, and fails to store an address that refers to no name, or to one with a slash.',
    matches: ({ at, stock, krmkit }) =>
      at === 'status' &&
      /^500 .*failed to allocate a serviceIP: IPAddress\.networking\.k8s\.io "[^"]*" is invalid: spec\.parentRef\.name/.test(
        String(stock),
      ) &&
      /^422 Service "[^"]*" is invalid: .*metadata\.name: /.test(String(krmkit)),
  },
  {
    id: 'D35',
    title: 'Two ports of a service with one port of the nodes are invalid, not an internal error',
    reason: 'API protocol 7: an invalid object is 422. kube-apiserver allocates ports before it validates the service.',
    matches: ({ at, stock, krmkit }, { step }) =>
      step.path.includes('/services/') &&
      at === 'status' &&
      String(stock).startsWith('500 duplicate nodePort: ') &&
      /^422 Service "[^"]*" is invalid: .*spec\.ports\[\d+\]/.test(String(krmkit)),
  },
  {
    id: 'D124',
    title: 'A port for health checks outside of the range is invalid, not an internal error',
    reason: 'API protocol 7: an invalid object is 422. kube-apiserver allocates ports before it validates the service.',
    matches: ({ at, stock, krmkit }, { step }) =>
      step.path.includes('/services') &&
      at === 'status' &&
      String(stock).startsWith('500 Internal error occurred: failed to allocate requested HealthCheck NodePort ') &&
      /^422 Service "[^"]*" is invalid: .*spec\.healthCheckNodePort: /.test(String(krmkit)),
  },
  {
    id: 'D36',
    title: 'A pod whose runtime class has a malformed name is refused, not an internal error',
    reason: 'API protocol 7: a request that breaks a rule is 4xx. The client in kube-apiserver refuses to ask for such a name.',
    matches: ({ at, stock, krmkit }) =>
      at === 'status' &&
      String(stock).startsWith('500 invalid resource name "') &&
      /^403 pods "[^"]*" is forbidden: pod rejected: RuntimeClass "[^"]*" not found$/.test(String(krmkit)),
  },
  {
    id: 'D25',
    title: 'Quantities in printed Go values show the canonical amount',
    reason:
      'kube-apiserver prints the internal parts of a quantity, which depend on how it was written; quantities are kept in their canonical form, which both print in the same message where they print it as text.',
    matches: (difference) => sameText(difference, stripQuantities),
  },
  {
    id: 'D26',
    title: 'A refused pod template of a job is not printed',
    reason: 'kube-apiserver prints the whole template as an internal Go value, pages of it; the field and the rule are the same.',
    matches: (difference) => sameText(difference, stripTemplates),
  },
  {
    id: 'D28',
    title: 'Adding an empty certificate or bundle of certificates changes nothing',
    reason:
      'Decision 0004: empty and absent bytes are one. The protobuf that kube-apiserver stores tells them apart, though no answer shows it, and it stores a new version.',
    ends: true,
    matches: ({ at }, { step }) =>
      step.method !== 'POST' &&
      /^body\.metadata\.(resourceVersion|generation|managedFields)/.test(at) &&
      step.body !== undefined &&
      'json' in step.body &&
      /"caBundle":""|caBundle","value":""|"certificate":""/.test(JSON.stringify(step.body.json)),
  },
]

/** The parts of a quantity in a difference of Go structs. */
const goAmount = /i: resource\.int64Amount\{[^}]*\}, (?:s: "[^"]*", )?(?=Format: )/g
/** A zero; kube-apiserver has a quantity without parts for null. */
const zeroInDiff = /(?<=: )\{s: "0", Format: "DecimalSI"\}/g
const goQuantity =
  /resource\.Quantity\{i:resource\.int64Amount\{[^}]*\}, d:resource\.infDecAmount\{[^}]*\}, s:"[^"]*", Format:"\w*"\}/g
/** An empty value of a line of a difference of Go structs. */
const emptyInDiff = /(?<=^[-+ ] .*: +)(?:(?:map\[[\w.]+\]|\[\])[\w.]+|core\.ResourceList)\{\}(?=,$)/gm
const emptyGoValue = /((?:map\[[\w.]+\]|\[\])[\w.]+|core\.ResourceList)\{\}/g

const plainDiffs = (text: string) => text.replaceAll('\u00a0', ' ').replaceAll(goAmount, '').replaceAll(zeroInDiff, '{}')
const stripEmpties = (text: string) => text.replaceAll(emptyInDiff, 'nil').replaceAll(emptyGoValue, '$1(nil)')
/** The parsers also disagree on the number of errors. */
const stripSyntaxErrors = (text: string) =>
  text.replaceAll(/(?<=compilation failed: )ERROR: [\s\S]*?: Syntax error: [\s\S]*?(?=, \w+[.[]|\]$|$)/g, '')
const stripQuantities = (text: string) => text.replaceAll(goQuantity, 'resource.Quantity{}')
const stripTemplates = (text: string) =>
  text.replaceAll(/core\.PodTemplateSpec\{.*\}(?=: field is immutable)/g, 'core.PodTemplateSpec{}')

/** Whether texts that end with a difference of Go structs are equal before it, and that of kube-apiserver has a line for an empty value. */
function differsWithin({ stock, krmkit }: Difference): boolean {
  if (typeof stock !== 'string' || typeof krmkit !== 'string' || plainDiffs(stock).search(emptyInDiff) < 0) return false
  const [before, other] = [stock, krmkit].map((text) => plainDiffs(text).split(/^ {2}\w+\.\w+\{$/m)[0])
  return before === other
}

/** Removes what the entries of this file allow to differ in one text. */
export function stripAll(text: string): string {
  return [plainDiffs, stripEmpties, stripSyntaxErrors, stripQuantities, stripTemplates].reduce((rest, strip) => strip(rest), text)
}

/** Whether `strip` changes one of two texts that are equal without what the entries of this file allow to differ. */
function sameText({ stock, krmkit }: Difference, strip: (text: string) => string): boolean {
  if (typeof stock !== 'string' || typeof krmkit !== 'string') return false
  return (strip(stock) !== stock || strip(krmkit) !== krmkit) && stripAll(stock) === stripAll(krmkit)
}
