import type { KnownDivergence } from './index.ts'

/** Divergences that the specification asks for. */
export const bySpecification: readonly KnownDivergence[] = [
  {
    id: 'D1',
    title: 'A list that ends carries `continue: ""`',
    reason: 'API protocol 2.3: the continue token at the end of a list is the empty string; the stock server omits the member.',
    matches: ({ at, stock, krmkit }) => at === 'body.metadata.continue' && stock === '<absent>' && krmkit === '',
  },
]
