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
    id: 'D166',
    title: 'A float without a fraction in place of the equal integer changes nothing',
    reason:
      'The stock server compares numbers of custom resources by their types in Go before it stores them: `1.0` in JSON where 1 is stored raises the generation each time, although what is stored stays 1. krmkit compares values, so that clients that write floats cause no rollouts.',
    ends: true,
    matches: ({ at, stock, krmkit }, { step }) =>
      step.body !== undefined &&
      'text' in step.body &&
      /[0-9](?:\.0+(?![0-9])|[eE])/.test(step.body.text) &&
      (at === 'body.metadata.generation'
        ? Number(stock) === Number(krmkit) + 1
        : at === 'body.metadata.resourceVersion' && String(stock).startsWith('<version ')),
  },
  {
    id: 'D167',
    title: 'Owners keep items of sets beyond 2^53',
    reason:
      'The stock server reads such a number in managedFields as a float, which is another item, and drops its owner with the next apply of anyone. krmkit keeps it.',
    ends: true,
    matches: ({ at, stock }) => /^body\.metadata\.managedFields\..*\.v:-?[0-9]{16,}$/.test(at) && stock === '<absent>',
  },
]
