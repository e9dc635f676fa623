import type { KnownDivergence } from './index.ts'

/** Departures in YAML and in numbers. */
export const ofNumbers: readonly KnownDivergence[] = [
  {
    id: 'D165',
    title: 'Maps with keys that are no texts are described in another order',
    reason:
      'The message for a map as a key, or for a key that JSON does not have, shows a value in Go syntax, whose maps have an order by the addresses of types. krmkit shows keys as texts, and what JSON makes of numbers.',
    matches: ({ at, aspect, stock, krmkit }) =>
      at === 'body.message' &&
      aspect === 'wording' &&
      [stock, krmkit].every((text) => / map key(:| of type: )/.test(String(text))),
  },
  {
    id: 'D186',
    title: 'Of several values of wrong types, one whose key is an integer is named first',
    reason:
      'Go names the first in the order of the keys of the converted YAML. A JavaScript object lists keys that are integers before all others, also before the few that sort before digits, such as the empty one.',
    matches: ({ at, aspect, stock, krmkit }, { step }) =>
      at === 'body.message' &&
      aspect === 'wording' &&
      String(step.headers?.['content-type']).includes('yaml') &&
      [stock, krmkit].every((text) => String(text).includes('json: cannot unmarshal ')) &&
      [stock, krmkit].map((text) => String(text).replace(/cannot unmarshal \w+/, '')).every((text, _, [first]) => text === first),
  },
  {
    id: 'D167',
    title: 'Owners keep items of sets beyond 2^53',
    reason:
      'kube-apiserver reads such a number in managedFields as a float, which is another item, and drops its owner with the next apply of anyone. krmkit keeps it.',
    ends: true,
    matches: ({ at, stock }) => /^body\.metadata\.managedFields\..*\.v:-?[0-9]{16,}$/.test(at) && stock === '<absent>',
  },
]
