import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { stringifyJson } from './encode-json.direct.ts'
import { JsonIndenter } from './indent-json.ts'

const indented = (...texts: string[]) => {
  const indenter = new JsonIndenter()
  return texts.map((text) => [...indenter.chunks(text, 5)].join('')).join('')
}

describe('JsonIndenter', () => {
  it('agrees with JSON.stringify and two spaces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value)
        expect(indented(text)).toBe(JSON.stringify(JSON.parse(text), null, 2))
      }),
    )
  })

  it('keeps escapes, numbers and member order', () => {
    expect(indented(stringifyJson({ '10': '<', '9': '\\"' }))).toBe('{\n  "10": "\\u003c",\n  "9": "\\\\\\""\n}')
    expect(indented('{"a":1.0e+2,"b":[],"c":{}}')).toBe('{\n  "a": 1.0e+2,\n  "b": [],\n  "c": {}\n}')
  })

  it('accepts a document in chunks', () => {
    expect(indented('{"items":[', '{"a":1}', ',', '{}', ']}')).toBe(indented('{"items":[{"a":1},{}]}'))
    expect(indented('{"items":[', ']}')).toBe('{\n  "items": []\n}')
  })
})
