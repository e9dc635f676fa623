import { describe, expect, it } from 'vitest'
import { parseConfiguration } from './configuration.ts'

const thing = {
  kind: 'Thing',
  apiVersions: ['example.com/v1', 'example.com/v1beta1'],
  schema: {
    members: {
      name: 'string',
      on: 'boolean',
      after: 'duration',
      words: { list: 'string' },
      parts: { list: { members: { size: 'string' } } },
    },
  },
} as const
const head = { apiVersion: 'example.com/v1', kind: 'Thing' }
const read = (more: object) => parseConfiguration({ ...head, ...more }, thing)

describe('parseConfiguration', () => {
  it('parses known members and treats null as absent', () => {
    const value = { name: 'a', on: false, after: '1m30s', words: ['x', null], parts: [{ size: 's' }, null] }
    expect(read(value)).toEqual({
      ok: true,
      value: { name: 'a', on: false, after: 90_000_000_000n, words: ['x', ''], parts: [{ size: 's' }, {}] },
    })
    expect(read({ name: null })).toEqual({ ok: true, value: {} })
    expect(parseConfiguration({ ...head, apiVersion: 'example.com/v1beta1' }, thing)).toMatchObject({ ok: true })
  })

  it.each<[object, string]>([
    [{ nmae: 'a', parts: [{ sise: 1 }] }, 'strict decoding error: unknown field "nmae", unknown field "parts[0].sise"'],
    [JSON.parse('{"__proto__":{"name":"a"}}') as object, 'strict decoding error: unknown field "__proto__"'],
    [{ constructor: 'a' }, 'strict decoding error: unknown field "constructor"'],
    [{ name: 7 }, 'name: must be a string'],
    [{ on: 'true' }, 'on: must be a boolean'],
    [{ after: 'soon' }, 'after: time: invalid duration "soon"'],
    [{ after: 30 }, 'after: must be a duration such as 30s'],
    [{ words: 'x' }, 'words: must be a list'],
    [{ parts: ['x'] }, 'parts[0]: must be an object'],
  ])('rejects %j', (more, message) => {
    const given = Object.hasOwn(more, '__proto__') ? Object.assign(more, head) : { ...head, ...more }
    expect(parseConfiguration(given, thing)).toEqual({ ok: false, message })
  })

  it('rejects other kinds and duplicate keys', () => {
    const message = (value: unknown) => parseConfiguration(value, thing)
    for (const value of [null, [], 'Thing', 7]) expect(message(value)).toEqual({ ok: false, message: 'not an object' })
    expect(message({})).toEqual({ ok: false, message: "Object 'Kind' is missing" })
    expect(message({ kind: 'Thing' })).toEqual({ ok: false, message: "Object 'apiVersion' is missing" })
    expect(message({ ...head, apiVersion: 'v1' })).toEqual({
      ok: false,
      message: 'no kind "Thing" is registered for version "v1"',
    })
    expect(parseConfiguration(head, thing, ['line 3: key "a" already set in map'])).toEqual({
      ok: false,
      message: 'strict decoding error: yaml: unmarshal errors:\n  line 3: key "a" already set in map',
    })
  })
})
