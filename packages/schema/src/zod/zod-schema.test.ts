import { describe, expect, it } from 'vitest'
import { testTypes } from '../../testdata/types.ts'
import { createZodSchema, createZodSchemas } from './zod-schema.ts'

const types = testTypes()
const pod = createZodSchema(types.struct('core/v1.Pod'))
const container = { name: 'c', image: 'i', ports: [{ containerPort: 80, protocol: 'TCP' }] }

function podWith(change: Record<string, unknown>): unknown {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' }, spec: { containers: [{ ...container, ...change }] } }
}

function problems(value: unknown): string[] {
  const result = pod.safeParse(value)
  return result.success ? [] : result.error.issues.map(({ path }) => path.join('.'))
}

describe('createZodSchema', () => {
  it('accepts an object of the kind [P1]', () => {
    const object = podWith({ resources: { limits: { cpu: '500m', memory: 1 } } })
    expect(pod.parse(object)).toEqual(object)
  })

  it('rejects another kind or version', () => {
    expect(problems({ apiVersion: 'v2', kind: 'Pods' })).toEqual(expect.arrayContaining(['kind', 'apiVersion']))
  })

  it('rejects unknown members and undefined', () => {
    const unknown = pod.safeParse(podWith({ imagePolicy: 'x' }))
    expect(unknown.error?.issues[0]).toMatchObject({ code: 'unrecognized_keys', keys: ['imagePolicy'] })
    expect(problems(podWith({ image: undefined }))).toEqual(['spec.containers.0.image'])
  })

  it.each([
    ['a missing name', { name: undefined }, 'spec.containers.0.name'],
    ['a value outside an enumeration', { imagePullPolicy: 'Sometimes' }, 'spec.containers.0.imagePullPolicy'],
    ['a fraction', { ports: [{ containerPort: 1.5 }] }, 'spec.containers.0.ports.0.containerPort'],
    ['more than 32 bits', { ports: [{ containerPort: 2 ** 31 }] }, 'spec.containers.0.ports.0.containerPort'],
    ['a quantity without a number', { resources: { limits: { cpu: 'much' } } }, 'spec.containers.0.resources.limits.cpu'],
    ['a string for a list', { command: 'sh' }, 'spec.containers.0.command'],
    ['a string for a boolean', { tty: 'yes' }, 'spec.containers.0.tty'],
  ])('rejects %s', (_, change, path) => {
    expect(problems(podWith(change))).toEqual([path])
  })

  it('checks times, bytes and int-or-string values', () => {
    const time = (creationTimestamp: unknown) => problems({ metadata: { creationTimestamp } })
    expect(time('2024-05-01T10:00:00Z')).toEqual([])
    expect(time(null)).toEqual([])
    expect(time('yesterday')).toEqual(['metadata.creationTimestamp'])
    const secret = createZodSchema(types.struct('core/v1.Secret'))
    expect(secret.safeParse({ data: { a: 'eA==' } }).success).toBe(true)
    expect(secret.safeParse({ data: { a: 'x y' } }).success).toBe(false)
    const probe = (port: unknown) => problems(podWith({ livenessProbe: { httpGet: { port } } }))
    expect(probe(80)).toEqual([])
    expect(probe('http')).toEqual([])
    expect(probe(true)).toEqual(['spec.containers.0.livenessProbe.httpGet.port'])
  })

  it('accepts bigints for 64-bit integers', () => {
    const deadline = (activeDeadlineSeconds: unknown) => problems({ spec: { containers: [container], activeDeadlineSeconds } })
    expect(deadline(9007199254740993n)).toEqual([])
    expect(deadline(2n ** 63n)).toEqual(['spec.activeDeadlineSeconds'])
  })

  it('supports recursive types', () => {
    const schema = createZodSchema(types.struct('apiextensions/v1.JSONSchemaProps'))
    const nested = {
      type: 'object',
      properties: { a: { type: 'array', items: { type: 'string' } } },
      additionalProperties: false,
    }
    expect(schema.parse(nested)).toEqual(nested)
    expect(schema.safeParse({ properties: { a: { typ: 'x' } } }).success).toBe(false)
    expect(schema.safeParse({ additionalProperties: { type: 'string' } }).success).toBe(true)
  })

  it('does not let map keys reach a prototype', () => {
    const hostile = JSON.parse('{"metadata":{"labels":{"__proto__":"x","constructor":"y"}}}') as unknown
    pod.safeParse(hostile)
    expect(Object.getPrototypeOf({})).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })

  it('accepts unknown enumeration values and members on request', () => {
    const open = createZodSchemas({ enums: false, loose: true }).of(types.struct('core/v1.Pod'))
    expect(open.safeParse(podWith({ imagePullPolicy: 'Sometimes', more: 1 })).success).toBe(true)
  })

  it('shares schemas between the types of one factory', () => {
    const schemas = createZodSchemas()
    expect(schemas.of(types.struct('core/v1.PodSpec'))).toBe(schemas.of(types.struct('core/v1.PodSpec')))
  })
})
