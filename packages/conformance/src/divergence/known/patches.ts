import type { JsonValue } from '@krmkit/meta'
import type { Difference, Divergence } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Divergences of patches and of server-side apply. */
export const ofPatches: readonly KnownDivergence[] = [
  {
    id: 'D40',
    title: 'Unknown fields in apply follow fieldValidation',
    reason:
      'API protocol 4.6: Warn and Ignore drop an unknown field, Strict is 400. kube-apiserver answers 500 to an unknown field in an applied configuration, whatever the level, and drops it silently where it has no schema for field management.',
    matches: ({ at, stock, krmkit }, { step }) =>
      isApply(step) &&
      (at === 'status' || at === 'body.message'
        ? /^(500 )?failed to create typed patch object .*: field not declared in schema/s.test(String(stock)) &&
          !/^(500 )?failed to create typed/.test(String(krmkit))
        : at === 'headers.warning' && onlyUnknownFields(String(stock), String(krmkit))),
  },
  {
    id: 'D41',
    title: 'A patch whose result cannot be decoded is 400',
    reason:
      'API protocol 4.6 and 7: what cannot be decoded is 400 for every verb, also a patch that changes the type of its object. kube-apiserver answers 422 to PATCH, with the object in the message; strategic merge patches have other words there, because their result is converted without JSON.',
    matches: ({ at, stock, krmkit }, { step }) =>
      step.method === 'PATCH' &&
      at === 'status' &&
      String(stock).startsWith('422  "" is invalid: patch: Invalid value: ') &&
      String(krmkit).startsWith('400 ') &&
      (String(stock).endsWith(`: ${String(krmkit).slice(4)}`) || converterFailure.test(String(stock))),
  },
  {
    id: 'D42',
    title: 'Requests that crash the handler of kube-apiserver are refused',
    reason:
      'kube-apiserver panics on some malformed patches, such as directives in lists without merge key, and on indexed jobs with a success policy and no number of completions, and ends the connection without an answer; krmkit answers 400 or 422.',
    matches: ({ at, stock, krmkit }, { step }) =>
      (step.method === 'PATCH' || /\/(jobs|cronjobs)(\/|$)/.test(step.path)) &&
      at === 'status' &&
      /^0 Error: socket hang up/.test(String(stock)) &&
      /^4(00|22) /.test(String(krmkit)),
  },
  {
    id: 'D142',
    title: 'An empty member of an item of an atomic list changes nothing',
    reason:
      'kube-apiserver compares the items of an atomic list as Go values, in which an empty list or map is not an absent one, although neither is stored: a request that sends one again takes ownership of the list and gets a new version, every time. krmkit compares what is stored.',
    ends: true,
    matches: ({ at }, { step, differences }) =>
      isOwnershipOrVersion(at) &&
      differences.every((other) => isOwnershipOrVersion(other.at)) &&
      ['PUT', 'PATCH'].includes(step.method) &&
      !/^\/apis\/[^/]*example\.com\//.test(step.path) &&
      hasEmptyInItem(sentObject(step)),
  },
  {
    id: 'D43',
    title: 'An empty list of managedFields does not reset ownership',
    reason:
      'API protocol 4.7: a list with one empty entry resets managedFields, an empty list does not; kube-apiserver takes both.',
    ends: true,
    matches: (difference, { step }) => (losesOwners(difference) || isWritten(difference)) && sentOwners(step)?.length === 0,
  },
  {
    id: 'D44',
    title: 'A reset of managedFields comes before the change of the same request',
    reason:
      'API protocol 4.7: in a combined request the reset happens first, so the change is owned; on kube-apiserver nothing is owned until the next apply.',
    ends: true,
    matches: (difference, { step }) => losesOwners(difference) && sentOwners(step)?.length === 1,
  },
]

/** Words of the conversion that kube-apiserver uses for results of strategic merge patches. */
const converterFailure =
  /: (cannot convert \w+ to [\w.]+|cannot restore (map|slice) from \w+|cannot restore struct from: \w+|unrecognized type: \w+|error decoding from json: .*|parsing time ".*)$/

function isApply({ method, headers }: Divergence['step']): boolean {
  return method === 'PATCH' && String(headers?.['content-type']).startsWith('application/apply-patch')
}

/** Whether the warnings of krmkit are those of kube-apiserver and unknown fields. */
function onlyUnknownFields(stock: string, krmkit: string): boolean {
  const rest = krmkit.replaceAll(/(, )?299 - "unknown field (?:[^"\\]|\\.)*"/g, '')
  return rest !== krmkit && rest === stock.replace('<absent>', '')
}

function losesOwners({ at, stock, krmkit }: Difference): boolean {
  return at === 'body.metadata.managedFields' && stock === '<absent>' && Array.isArray(krmkit)
}

/** kube-apiserver writes an object where krmkit changes nothing. */
function isWritten({ at, krmkit }: Difference): boolean {
  return at === 'body.metadata.resourceVersion' && krmkit !== '<absent>'
}

function isOwnershipOrVersion(at: string): boolean {
  return at === 'body.metadata.resourceVersion' || at.startsWith('body.metadata.managedFields')
}

/** The object or patch of a request. */
function sentObject({ body }: Divergence['step']): JsonValue | undefined {
  if (body === undefined) return undefined
  return 'json' in body ? body.json : 'protobuf' in body ? body.protobuf.object : undefined
}

/** Whether an item of a list has an empty list or map in it, at any depth. */
function hasEmptyInItem(value: JsonValue | undefined, place: 'outside' | 'item' | 'inside' = 'outside'): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parts = Object.values(value)
  if (place === 'inside' && parts.length === 0) return true
  const within = place === 'outside' ? place : 'inside'
  return parts.some((part) => hasEmptyInItem(part, Array.isArray(value) && place === 'outside' ? 'item' : within))
}

function sentOwners(step: Divergence['step']): readonly unknown[] | undefined {
  const sent = sentObject(step) as { metadata?: { managedFields?: JsonValue } } | null | undefined
  const owners = sent?.metadata?.managedFields
  return Array.isArray(owners) ? owners : undefined
}
