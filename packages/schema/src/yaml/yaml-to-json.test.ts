import { describe, expect, it } from 'vitest'
import { sharedFiles } from '../../testdata/types.ts'
import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import { parseYaml } from './parse-yaml.ts'
import { yamlToJson } from './yaml-to-json.ts'

const utf8 = new TextEncoder()

function read(yaml: string | Uint8Array, maxBytes = 1_000_000): unknown {
  const { json, problems } = yamlToJson(typeof yaml === 'string' ? utf8.encode(yaml) : yaml, { maxBytes })
  return { ...parseJson(json, { literals: true }), problems }
}

function failure(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    if (error instanceof DecodeError) return [error.code, error.message, { path: error.path, mark: error.mark }]
    throw error
  }
}

describe('yamlToJson', () => {
  it.each([
    '',
    'a: 1\nb: [x, "y", ~, true, 1.5, -0]\nc: |\n  text\n',
    '[9007199254740993, 18446744073709551615, -9223372036854775808, 0x10]',
    '__proto__: {constructor: 1}\n10: a\n9: b\n"é\\u2028\\U0001f600": "\\t\\x07"',
    'base: &b {a: 1, c: [2]}\nother:\n  <<: *b\n  a: 3\nlist: [*b, *b]',
    'a: 1\na: 2\nb: {c: 1, c: 1}\n',
  ])('agrees with parseYaml: %j', (yaml) => {
    expect(read(yaml)).toEqual(parseYaml(yaml, { literals: true }))
  })

  it('agrees with parseYaml on published objects', () => {
    const files = sharedFiles('golden/').filter(({ name }) => name.endsWith('.yaml'))
    for (const { name, bytes } of files.slice(0, 100)) expect(read(bytes), name).toEqual(parseYaml(bytes))
  })

  it('reports YAML errors unchanged', () => {
    for (const yaml of ['a: [1', 'a: *b', '{1: [}', '? [a]\n: b', 'a: .nan']) {
      expect(
        failure(() => read(yaml)),
        yaml,
      ).toEqual(failure(() => parseYaml(yaml, { literals: true })))
    }
  })

  it('limits the JSON that aliases expand to', () => {
    const list = `a: &a ${JSON.stringify('x'.repeat(1000))}\nb: [${Array(200).fill('*a').join(',')}]`
    expect(failure(() => read(list, 100_000))).toEqual(['TooLarge', 'more than 100000 bytes of JSON', {}])
    expect(read(list, 300_000)).toEqual(parseYaml(list))
  })
})
