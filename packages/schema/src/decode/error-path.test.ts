import { expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import { DecodeError } from '../schema-error.ts'
import { decode } from './decode.direct.ts'

const types = testTypes()

const pathOf = (name: string, value: object): string | undefined => {
  try {
    decode(types.struct(name), value)
  } catch (error) {
    if (error instanceof DecodeError) return error.path
    throw error
  }
  return 'fine'
}

it.each([
  [{ metadata: { name: 1 } }, 'metadata.name'],
  [{ metadata: { labels: { 'a.b/c': 1 } } }, 'metadata.labels.a.b/c'],
  [{ metadata: 'x' }, 'metadata'],
  [{ spec: { containers: [{ name: 'a' }, { ports: [{ containerPort: '80' }] }] } }, 'spec.containers[1].ports[0].containerPort'],
  [{ spec: { containers: [{ resources: { limits: { cpu: 'lots' } } }] } }, 'spec.containers[0].resources.limits.cpu'],
  [{ metadata: { creationTimestamp: 'yesterday' } }, 'metadata.creationTimestamp'],
  [{ spec: { containers: [{ livenessProbe: { httpGet: { port: 1.5 } } }] } }, 'spec.containers[0].livenessProbe.httpGet.port'],
])('locates a type mismatch or invalid text: %j', (value, path) => expect(pathOf('core/v1.Pod', value)).toBe(path))

it('locates invalid base64', () => {
  expect(pathOf('core/v1.Secret', { data: { a: '!' } })).toBe('data.a')
})
