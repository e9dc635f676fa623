import type { Difference, Divergence } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Divergences of definitions, custom resources and admission. */
export const ofExtensions: readonly KnownDivergence[] = [
  {
    id: 'D100',
    title: 'Definitions that crash the handler of kube-apiserver are refused',
    reason:
      'kube-apiserver panics when it validates selectable fields or definitions with keywords that no structural schema has, and ends the connection without an answer; krmkit answers 422.',
    matches: ({ at, stock, krmkit }, { step }) =>
      isOfDefinition(step) &&
      at === 'status' &&
      String(stock).startsWith('0 Error: socket hang up') &&
      String(krmkit).startsWith('422 '),
  },
  {
    id: 'D181',
    title: 'Policies and definitions with a constant map whose keys are bytes crash the handler of kube-apiserver',
    reason:
      'kube-apiserver panics when it folds the constant, `{b"a": 1}`, since Go cannot hash the key, and ends the connection without an answer; in krmkit the expression fails when it is evaluated.',
    matches: ({ at, stock }, { step }) =>
      (step.path.includes('/validatingadmissionpolicies') || isOfDefinition(step)) &&
      at === 'status' &&
      String(stock).startsWith('0 Error: socket hang up') &&
      /\{b'/.test(JSON.stringify(step.body)),
  },
  {
    id: 'D182',
    title: 'The message about null, a map or a list as an index names one type',
    reason:
      'kube-apiserver names the Go type of the index, which depends on how the expression got it: `<nil>` and `map[string]interface {}` from a variable of the request, `types.Null` and `*types.baseMap` from all else.',
    matches: ({ aspect, stock, krmkit }) =>
      aspect === 'wording' &&
      isSame(stock, krmkit, (text) =>
        text.replaceAll(
          /(?<=invalid qualifier type: )(?:<nil>|map\[string\]interface \{\}|\[\]interface \{\})/g,
          (type) => ({ m: '*types.baseMap', '[': '*types.baseList' })[type[0] ?? ''] ?? 'types.Null',
        ),
      ),
  },
  {
    id: 'D101',
    title: 'An expression has one syntax error',
    reason:
      'After a syntax error the parser of kube-apiserver guesses how to go on, and reports what it then finds; krmkit reports the first error, which is the one to mend.',
    matches: ({ aspect, stock, krmkit }) =>
      aspect === 'wording' && isSame(stock, krmkit, (text) => text.replaceAll(laterSyntaxErrors, '$1')),
  },
  {
    id: 'D102',
    title: 'The decode error of a Scale of a custom resource names the field',
    reason:
      'kube-apiserver answers that the type is not registered in a scheme of its source, which hides the field that cannot be decoded.',
    matches: ({ at, stock }, { step }) =>
      step.path.endsWith('/scale') &&
      at === 'body.message' &&
      String(stock).startsWith('no kind is registered for the type v1.Scale in scheme '),
  },
  {
    id: 'D69',
    title: 'The scale of a custom resource can be applied',
    reason:
      'Server-side apply of a Scale works as for built-in kinds; kube-apiserver tracks its owners with a converter for custom resources, which does not know the kind, and answers 500.',
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'status' &&
      step.method === 'PATCH' &&
      step.path.endsWith('/scale') &&
      /^500 .*request to convert CR to an invalid group\/version: autoscaling\/v1$/.test(String(stock)) &&
      !String(krmkit).startsWith('500 '),
  },
  {
    id: 'D104',
    title: 'An object is not stored under another name than its own',
    reason:
      'When a mutating webhook renames what a PUT or PATCH creates, kube-apiserver stores it under the name in the path, where no later request can change it; krmkit answers 400.',
    ends: true,
    matches: ({ at, krmkit }, { stock }) =>
      at === 'status' &&
      stock.status === 201 &&
      /^400 the name of the object \(\S+\) does not match the name on the URL/.test(String(krmkit)),
  },
  {
    id: 'D105',
    title: 'An update that changes nothing for readers keeps the resourceVersion',
    reason:
      'kube-apiserver writes an object again, as it is, when its stored bytes lack defaults that readers see, and watchers get an event without a change; krmkit stores what readers see.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step, differences }) =>
      at === 'body.metadata.resourceVersion' &&
      differences.length === 1 &&
      (step.method === 'PUT' || step.method === 'PATCH') &&
      (isOfDefinition(step) || step.path.startsWith('/apis/{id}.example.com/')) &&
      versionNumber(krmkit) < versionNumber(stock),
  },
  {
    id: 'D107',
    title: 'Unknown fields in apply are dropped also where the root keeps its own',
    reason:
      'API protocol 4.6: Warn and Ignore drop a field that the schema prunes, Strict is 400. When the root of a schema keeps unknown fields, kube-apiserver tracks the ownership of pruned fields further down, without a warning, and goes on to validation.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step, krmkit: ours }) =>
      isCustomApply(step) &&
      ((at === 'status' &&
        /^(20\d|422) /.test(String(stock)) &&
        /^400 .*strict decoding error: unknown field/.test(String(krmkit))) ||
        (at === 'headers.warning' && stock === '<absent>' && /^299 - "unknown field /.test(String(krmkit))) ||
        (at.startsWith('body.metadata.managedFields.') && krmkit === '<absent>' && ours.status < 300)),
  },
  {
    id: 'D155',
    title: 'A member that the storage version lacks has no owner',
    reason:
      'Without conversion, kube-apiserver drops such a member of a custom resource when it reads the object, but goes on to list its owner in managedFields; krmkit lists the owners of what is stored.',
    matches: ({ at, stock, krmkit }, { step }) =>
      /^\/apis\/[^/]*example\.com\//.test(step.path) &&
      /\.managedFields\.\d+\.fieldsV1\.f:spec\./.test(at) &&
      typeof stock === 'object' &&
      krmkit === '<absent>',
  },
  {
    id: 'D140',
    title: 'A custom resource whose values have other types than its schema can be applied',
    reason:
      'Validation accepts a list where the schema asks for a text with a format, and objects outlive a change of their schema. kube-apiserver cannot track owners of such an object, and answers 500 when it is applied, also where that would mend it; krmkit applies the configuration. Both drop all owners for an update.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      isCustomApply(step) &&
      at === 'status' &&
      /^500 failed to create (manager for existing fields: failed to convert new object .* to smd typed|typed live object .*): .*: expected .*, got/.test(
        String(stock),
      ) &&
      String(krmkit).startsWith('200 '),
  },
  {
    id: 'D184',
    title: 'A watch tells why an object cannot be converted',
    reason:
      'A watch ends when the webhook of a definition cannot convert an object. kube-apiserver closes the connection without a word; krmkit sends the failure as an event before.',
    matches: ({ at, stock, krmkit }) =>
      /^events\.\d+$/.test(at) &&
      stock === '<absent>' &&
      /^\{"type":"ERROR".*"message":"conversion webhook for /.test(JSON.stringify(krmkit)),
  },
  {
    id: 'D185',
    title: 'A list whose objects cannot be converted is 500 at once',
    reason:
      'After a change of its definition kube-apiserver fills a cache by converting all objects; until that succeeds it answers 429, although trying again cannot help. krmkit answers 500 with the failure, as kube-apiserver does once the cache is filled.',
    matches: ({ at, stock, krmkit }) =>
      at === 'status' &&
      /^429 storage is \(re\)initializing: failed to list .*: conversion webhook for /.test(String(stock)) &&
      String(krmkit).startsWith('500 conversion webhook for '),
  },
  {
    id: 'D103',
    title: 'Long values in messages are cut',
    reason:
      'Decision 0011, bounded work: values in messages end after 16 KiB; kube-apiserver prints schemas of any size, once for each error.',
    matches: ({ aspect, stock, krmkit }) =>
      aspect === 'wording' && String(krmkit).includes('...') && isCutOf(String(krmkit), String(stock)),
  },
  {
    id: 'D187',
    title: 'An item with one of its keys has an owner',
    reason:
      'Since 1.34 an item of a list with several keys needs one of them. Before, kube-apiserver failed to track the owners of an object whose item lacked a key, and dropped all of them; field management is that of the newest release.',
    matches: ({ at, stock, krmkit }, { step: { path, body } }) =>
      at === 'body.metadata.managedFields' &&
      stock === '<absent>' &&
      Array.isArray(krmkit) &&
      /^\/apis\/\{id\}\.example\.com\/.*\/status$/.test(path) &&
      body !== undefined &&
      'json' in body &&
      hasPartOfKeys(body.json),
  },
]

/** The second and further errors of an expression whose first is of syntax. */
const laterSyntaxErrors = /(Syntax error: [^\n]*(?:\n \| [^\n]*){2})(?:\nERROR: [^\n]*(?:\n \| [^\n]*){2})+/g

/** The number of a version's placeholder, in the order of appearance. */
function versionNumber(value: unknown): number {
  return Number(/^<version (\d+)>$/.exec(String(value))?.[1])
}

function isCustomApply({ method, path, headers }: Divergence['step']): boolean {
  return (
    method === 'PATCH' &&
    path.startsWith('/apis/{id}.example.com/') &&
    String(headers?.['content-type']).startsWith('application/apply-patch')
  )
}

/** Whether a list has an item with one of the keys `name` and `port` that the lists of generated definitions have. */
function hasPartOfKeys(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (!Array.isArray(value)) return Object.values(value).some(hasPartOfKeys)
  return value.some((item) => hasPartOfKeys(item) || isKeyedByPart(item))
}

function isKeyedByPart(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return false
  const { name, port } = item as { readonly name?: unknown; readonly port?: unknown }
  return ((name ?? undefined) === undefined) !== ((port ?? undefined) === undefined)
}

function isOfDefinition({ path }: Divergence['step']): boolean {
  return path.includes('/customresourcedefinitions')
}

function isSame(stock: Difference['stock'], krmkit: Difference['krmkit'], strip: (text: string) => string): boolean {
  return typeof stock === 'string' && typeof krmkit === 'string' && strip(stock) === strip(krmkit)
}

/** Whether `cut` is `whole` with parts replaced by three dots. */
function isCutOf(cut: string, whole: string): boolean {
  let from = 0
  // The text may be cut after a dot.
  for (const part of cut.split(/\.\.\.(?!\.)/)) {
    const at = whole.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
