import { createNamingProfile, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { Negotiator } from './negotiation.ts'

const negotiator = new Negotiator(stockProfile)
const table = 'application/json;as=Table;g=meta.k8s.io;v=v1'

describe('negotiation', () => {
  it.each([
    [undefined, 'json'],
    ['', 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/yaml', 'yaml'],
    ['application/vnd.kubernetes.protobuf', 'protobuf'],
    ['text/html, application/yaml, application/json', 'yaml'],
    ['application/yaml;q=0.5, application/json;q=0.9', 'json'],
    ['application/json;q=0, application/yaml', 'yaml'],
    ['application/json; charset=utf-8', 'json'],
    ['text/html,*/*;q=0.1', 'json'],
  ])('%s selects %s [P189] [P190]', (accept, encoding) => {
    expect(negotiator.negotiate(accept).encoding).toBe(encoding)
  })

  it.each([
    ['*/*;q=0.1, application/yaml', 'yaml'],
    // A specific type takes precedence over a wildcard with a higher weight.
    ['*/*, application/yaml;q=0.5', 'yaml'],
    ['application/json;q=x, application/yaml;q=0.1', 'yaml'],
    ['application/json;q=0', 'json'],
    ['application/yaml;as=;charset=a=b', 'yaml'],
    ['application/yaml;stream=watch', 'yaml'],
    ['application/yaml;stream=x, application/json', 'json'],
    ['*', 'json'],
    ['application/yaml/x, application/json', 'json'],
    [`${'text/html,'.repeat(20)}application/yaml;q=0.1`, 'yaml'],
  ])('orders and reads the clauses of %s like kube-apiserver', (accept, encoding) => {
    expect(negotiator.negotiate(accept).encoding).toBe(encoding)
  })

  it.each([undefined, '', '*/*', 'text/html, application/json;q=0.1', 'application/yaml;as=Table'])('routes %s', (accept) => {
    expect(() => negotiator.requireAccepted(accept, negotiator.produced())).not.toThrow()
  })

  it.each(['application/*', 'APPLICATION/JSON', '*', ',', 'x'])('finds no route for %s', (accept) => {
    const collection = negotiator.produced({ collection: true })
    expect(() => negotiator.requireAccepted(accept, collection)).toThrow(
      '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf, application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
    )
  })

  it('caches accepted headers, bounded in bytes', () => {
    const one = new Negotiator(stockProfile)
    one.negotiate('application/yaml')
    one.negotiate('application/yaml')
    expect(one.remembered).toBe(1)
    expect(() => one.negotiate('text/html')).toThrow()
    one.negotiate('application/json;refused=1', { refusal: true })
    one.negotiate(`application/json;x=${'y'.repeat(5000)}`)
    expect(one.remembered).toBe(1)
    for (let i = 0; i < 2000; i++) one.negotiate(`application/json;x=${i}`)
    expect(one.remembered).toBeLessThan(800)
    expect(one.negotiate('application/json;x=1999').encoding).toBe('json')
  })

  it.each(['text/html', 'text/*', 'application/x-yaml', 'nonsense', ','.repeat(5000)])(
    'refuses %.40s with 406 [P194] [P313]',
    (accept) => {
      expect(() => negotiator.negotiate(accept)).toThrow(expect.objectContaining({ code: 406, reason: 'NotAcceptable' }))
    },
  )

  it('selects a Table by its parameters, with JSON as fallback [P193]', () => {
    expect(negotiator.negotiate(`${table},application/json`, { transforms: ['Table'] }).transform).toEqual({
      as: 'Table',
      version: 'v1',
    })
    expect(negotiator.negotiate(`${table},application/json`).transform).toBeUndefined()
    expect(
      negotiator.negotiate(`application/json;as=Table;g=meta.k8s.io;v=v9,application/json`, { transforms: ['Table'] }),
    ).toEqual({
      encoding: 'json',
      pretty: false,
    })
  })

  it.each([
    'application/vnd.kubernetes.protobuf;as=Table;g=meta.k8s.io;v=v1',
    'application/json;g=meta.k8s.io;v=v1',
    'application/json;v=v1',
    'application/json;as=Table;g=k8s.io;v=v1',
    'application/json;as=Service;g=;v=v1',
  ])('refuses the unknown transform %s with 406 [P194]', (accept) => {
    expect(() => negotiator.negotiate(accept, { transforms: ['Table'] })).toThrow(
      'only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf',
    )
  })

  it('reads spaces inside of parameters in linear time', () => {
    expect(negotiator.negotiate(`application/yaml;charset=a${' '.repeat(200_000)}b`).encoding).toBe('yaml')
  })

  it('refuses YAML for streams with 406 [P194]', () => {
    const options = { transforms: ['Table'] } as const
    const streamed = (accept: string) => {
      const representation = negotiator.negotiate(accept, options)
      negotiator.requireStream(representation)
      return representation
    }
    for (const accept of [
      'application/yaml',
      'application/yaml;as=Table;g=meta.k8s.io;v=v1',
      'application/yaml, application/json',
    ]) {
      expect(() => streamed(accept)).toThrow(
        'only the following media types are accepted: application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch',
      )
    }
    expect(streamed('application/json, application/yaml').encoding).toBe('json')
    expect(() => streamed('text/html')).toThrow('only the following media types are accepted')
  })

  it('derives the protobuf media type from the vendor', () => {
    const own = new Negotiator(createNamingProfile({ vendor: 'example', apiDomain: 'example.dev' }))
    expect(own.negotiate('application/vnd.example.protobuf').encoding).toBe('protobuf')
    expect(own.negotiate(table.replace('meta.k8s.io', 'meta.example.dev'), { transforms: ['Table'] }).transform?.as).toBe('Table')
    expect(() => own.negotiate(table, { transforms: ['Table'] })).toThrow(expect.objectContaining({ code: 406 }))
    expect(() => own.negotiate('application/vnd.kubernetes.protobuf')).toThrow(expect.objectContaining({ code: 406 }))
  })
})
