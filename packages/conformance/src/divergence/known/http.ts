import type { Difference } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Departures on purpose in what a request is, before it reaches a resource. */
export const ofHttp: readonly KnownDivergence[] = [
  {
    id: 'D148',
    title: 'A path that is not UTF-8 is 400',
    reason:
      'API protocol 7: a request that cannot be read is 400. kube-apiserver takes the bytes for a name, which it shows with replacement characters.',
    matches: (_, { step, krmkit }) =>
      /%[89A-F][0-9A-F]/i.test(step.path) && krmkit.status === 400 && String(krmkit.body).startsWith('400 Bad Request'),
  },
  {
    id: 'D149',
    title: 'Two Authorization headers are 401',
    reason:
      'Design, decision 15: credentials that cannot be read whole refuse the request. kube-apiserver takes the first header and ignores the others.',
    matches: ({ at, krmkit }, { step }) =>
      at === 'status' && Array.isArray(step.headers?.['authorization']) && String(krmkit).startsWith('401 '),
  },
  {
    id: 'D150',
    title: 'The path of a watch without a resource is not found',
    reason:
      'API protocol 7: a request for what does not exist is 404, and 403 before that for whom may not ask. kube-apiserver answers 500, because it finds no resource in the path, before it authorizes.',
    matches: ({ at, stock }, { step }) =>
      at === 'status' && /^\/apis?\/([^/]+\/){1,2}(watch|proxy)\/?$/.test(step.path) && String(stock).startsWith('500 '),
  },
  {
    id: 'D151',
    title: 'A write or watch in the form of a list is refused at once',
    reason:
      'One object or event has no form of a list. kube-apiserver writes the object and then refuses to show it, and opens a watch that cannot show any event; krmkit refuses both before anything happens, with 406.',
    ends: true,
    matches: (difference, { step }) =>
      String(step.headers?.['accept']).includes('as=PartialObjectMetadataList') &&
      (step.method !== 'GET' || step.watch === true) &&
      isNotAcceptable(difference),
  },
  {
    id: 'D153',
    title: 'A reference to a kind that is no role is 422',
    reason:
      'API protocol 7: what can be read but breaks a rule is Invalid. kube-apiserver resolves the role before it validates the binding, and answers 500.',
    matches: ({ at, stock, krmkit }) =>
      at === 'status' &&
      /^500 unsupported role reference kind: /.test(String(stock)) &&
      /^422 .*roleRef\.kind: /.test(String(krmkit)),
  },
  {
    id: 'D154',
    title: 'A token ends with what it is bound to',
    reason:
      'kube-apiserver remembers a token that it has accepted for ten seconds, in which the token outlives its account, pod, secret or node; krmkit refuses it at once.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'status'
        ? /^\{token\d+\.status\.token\}$/.test(step.as ?? '') &&
          /^(2|403)/.test(String(stock)) &&
          String(krmkit).startsWith('401 ')
        : step.path.endsWith('/tokenreviews') && isOfEndedToken(at, stock, krmkit),
  },
  {
    id: 'D156',
    title: 'Malformed certificates and requests are described by another decoder',
    reason: 'Texts about malformed DER come from the decoder of Go; the field and the rule are equal.',
    matches: (difference, { step }) => step.path.includes('/certificatesigningrequests') && sameWithoutDer(difference),
  },
  {
    id: 'D157',
    title: 'A path with an empty segment is no path of a resource',
    reason:
      'Both servers refuse it. kube-apiserver authorizes it as a resource first, whose name is a part of the path that stands for something else.',
    matches: ({ at, stock, krmkit }, { step, krmkit: { status } }) =>
      /^\/\/|^\/apis?\/(.*\/)?\/[^/]/.test(step.path) &&
      (at === 'status' ? refusal.test(String(stock)) && refusal.test(String(krmkit)) : status === 403 || status === 404),
  },
]

function isOfEndedToken(at: string, stock: unknown, krmkit: unknown): boolean {
  return at === 'body.status.error' ? stock === '<absent>' : at.startsWith('body.status.') && krmkit === '<absent>'
}

const refusal = /^40[34] /

/** Texts of the decoders follow the value or the word certificate. */
function sameWithoutDer({ at, stock, krmkit }: Difference): boolean {
  if (!/^body\.(message|details\.causes\.\d+\.message)$/.test(at)) return false
  const rest = (text: unknown) =>
    String(text).replaceAll(
      /(?<=(0xa\}|unable to parse csr): |x509: malformed certificate)[^,\]]*?(?=, (spec|status|metadata)\.|\]$|$)/g,
      '<der>',
    )
  return rest(stock) === rest(krmkit)
}

function isNotAcceptable({ at, krmkit }: Pick<Difference, 'at' | 'krmkit'>): boolean {
  return at === 'status'
    ? String(krmkit).startsWith('406 ')
    : at === 'body.message' && String(krmkit).startsWith('only the following')
}
