import { describe, expect, it } from 'vitest'
import { encodeJson } from '../json/encode-json.direct.ts'
import { createTypeSource } from '../model/type-source.ts'
import { decode } from './decode.direct.ts'

const types = (mark: string) =>
  createTypeSource({
    core: [
      '',
      '/v1 k8s.io/api/core/v1',
      `Meta name? creationTimestamp?:@Time${mark} deletionTimestamp*?:@Time`,
      'Template meta:Meta',
    ].join('\n'),
    meta: ['', '/v1 k8s.io/apimachinery/pkg/apis/meta/v1', 'Time;sTime'].join('\n'),
  })

const printed = (mark: string, object: object) => {
  const type = types(mark).struct('core/v1.Template')
  return new TextDecoder().decode(encodeJson(decode(type, object).object))
}

describe('an unset time', () => {
  it('is null, or absent where the type omits the zero value', () => {
    expect(printed('', {})).toBe('{"meta":{"creationTimestamp":null}}')
    expect(printed(';z', {})).toBe('{"meta":{}}')
  })

  it.each([null, '0001-01-01T00:00:00Z'])('is what %s means', (time) => {
    expect(printed('', { meta: { creationTimestamp: time } })).toBe('{"meta":{"creationTimestamp":null}}')
    expect(printed(';z', { meta: { creationTimestamp: time } })).toBe('{"meta":{}}')
  })

  it('keeps a pointer to the zero time', () => {
    const zero = { meta: { deletionTimestamp: '0001-01-01T00:00:00Z' } }
    expect(printed(';z', zero)).toBe('{"meta":{"deletionTimestamp":null}}')
  })

  it('keeps a set time', () => {
    const set = { meta: { creationTimestamp: '2024-05-01T10:00:00Z' } }
    expect(printed(';z', set)).toBe('{"meta":{"creationTimestamp":"2024-05-01T10:00:00Z"}}')
  })
})
