import type { Difference, Divergence } from '../compare.ts'
import type { KnownDivergence } from './index.ts'

/** Divergences of definitions, custom resources and admission. */
export const ofExtensions: readonly KnownDivergence[] = [
  {
    id: 'D100',
    title: 'Definitions that crash the handler of the stock server are refused',
    reason:
      'The stock server panics when it validates selectable fields or definitions with keywords that no structural schema has, and ends the connection without an answer; krmkit answers 422.',
    matches: ({ at, stock, krmkit }, { step }) =>
      isOfDefinition(step) &&
      at === 'status' &&
      String(stock).startsWith('0 Error: socket hang up') &&
      String(krmkit).startsWith('422 '),
  },
  {
    id: 'D101',
    title: 'An expression has one syntax error',
    reason:
      'After a syntax error the parser of the stock server guesses how to go on, and reports what it then finds; krmkit reports the first error, which is the one to mend.',
    matches: ({ aspect, stock, krmkit }) =>
      aspect === 'wording' && isSame(stock, krmkit, (text) => text.replaceAll(laterSyntaxErrors, '')),
  },
  {
    id: 'D102',
    title: 'The decode error of a Scale of a custom resource names the field',
    reason:
      'The stock server answers that the type is not registered in a scheme of its source, which hides the field that cannot be decoded.',
    matches: ({ at, stock }, { step }) =>
      step.path.endsWith('/scale') &&
      at === 'body.message' &&
      String(stock).startsWith('no kind is registered for the type v1.Scale in scheme '),
  },
  {
    id: 'D69',
    title: 'The scale of a custom resource can be applied',
    reason:
      'Server-side apply of a Scale works as for built-in kinds; the stock server tracks its owners with a converter for custom resources, which does not know the kind, and answers 500.',
    matches: ({ at, stock, krmkit }, { step }) =>
      at === 'status' &&
      step.method === 'PATCH' &&
      step.path.endsWith('/scale') &&
      /^500 .*request to convert CR to an invalid group\/version: autoscaling\/v1$/.test(String(stock)) &&
      !String(krmkit).startsWith('500 '),
  },
  {
    id: 'D103',
    title: 'Long values in messages are cut',
    reason:
      'Decision 0011, bounded work: values in messages end after 16 KiB; the stock server prints schemas of any size, once for each error.',
    matches: ({ aspect, stock, krmkit }) =>
      aspect === 'wording' && String(krmkit).includes('...') && isCutOf(String(krmkit), String(stock)),
  },
]

/** The second and further errors of an expression whose first is of syntax. */
const laterSyntaxErrors = /(?<=(Syntax error: [^\n]*(?:\n \| [^\n]*){2}))(?:\nERROR: [^\n]*(?:\n \| [^\n]*){2})+/g

function isOfDefinition({ path }: Divergence['step']): boolean {
  return path.includes('/customresourcedefinitions')
}

function isSame(stock: Difference['stock'], krmkit: Difference['krmkit'], strip: (text: string) => string): boolean {
  return typeof stock === 'string' && typeof krmkit === 'string' && strip(stock) === strip(krmkit)
}

/** Whether `cut` is `whole` with parts replaced by three dots. */
function isCutOf(cut: string, whole: string): boolean {
  let from = 0
  for (const part of cut.split('...')) {
    const at = whole.indexOf(part, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}
