import type { JsonObject } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { modelFiles } from '../testing/model.ts'
import { apply } from './apply.ts'
import { blame, blameLines } from './blame.ts'

const schema = createTypeSource(modelFiles()).struct('core/v1.PodTemplate')

const template = (spec: JsonObject, labels: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'PodTemplate',
  metadata: { name: 't', ...(Object.keys(labels).length > 0 ? { labels } : {}) },
  template: { spec },
})

const first = template(
  { containers: [{ name: 'a', image: 'i', command: ['sh', '-c', 'one\ntwo\n'] }], nodeSelector: { disk: 'fast' } },
  { 'app.example.com/name': 'a', team: 'x' },
)
const second = template({ containers: [{ name: 'b', image: 'j' }] }, { team: 'x' })
const live = apply({ applied: first, manager: 'ci', schema, now: Date.UTC(2025, 0, 1) }).object
const both = apply({ live, applied: second, manager: 'ops', schema, now: Date.UTC(2025, 1, 1) }).object

describe('blame', () => {
  it.each([
    ['metadata.managedFields must be a list', 'text'],
    ['metadata.managedFields[0] must be an object', [null]],
    ['metadata.managedFields[1] must be an object', [{}, 'text']],
    ['metadata.managedFields[0].manager must be a string', [{ manager: 5 }]],
  ])('rejects entries of a file that are invalid: %s', (message, managedFields) => {
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', managedFields } } as JsonObject
    expect(() => blameLines(object)).toThrow(expect.objectContaining({ code: 'InvalidFieldSet', message }))
  })

  it('reports the owners of each value', () => {
    const owners = new Map(blame(both, schema).map((value) => [value.field, value.owners.map(({ manager }) => manager)]))
    expect(Object.fromEntries(owners)).toMatchObject({
      '.apiVersion': [],
      '.metadata': [],
      '.metadata.labels.app.example.com/name': ['ci'],
      '.metadata.labels.team': ['ci', 'ops'],
      '.template.spec.containers': [],
      '.template.spec.containers[name="a"].image': ['ci'],
      '.template.spec.containers[name="b"]': ['ops'],
      // Atomic: owned as a whole.
      '.template.spec.containers[name="a"].command': ['ci'],
      '.template.spec.containers[name="a"].command[2]': ['ci'],
      '.template.spec.nodeSelector': ['ci'],
      '.template.spec.nodeSelector.disk': ['ci'],
    })
    expect([...owners.keys()].some((field) => field.includes('managedFields'))).toBe(false)
  })

  it('reports the owners of each line', () => {
    const lines = blameLines(both, schema).map(({ text, owners }) => `${owners.map(({ manager }) => manager).join()} | ${text}`)
    expect(lines).toEqual([
      ' | apiVersion: v1',
      ' | kind: PodTemplate',
      ' | metadata:',
      ' |   labels:',
      'ci |     app.example.com/name: a',
      'ci,ops |     team: x',
      ' |   name: t',
      ' | template:',
      ' |   spec:',
      ' |     containers:',
      'ci |     - command:',
      'ci |       - sh',
      'ci |       - -c',
      'ci |       - |',
      'ci |         one',
      'ci |         two',
      'ci |       image: i',
      'ci |       name: a',
      'ops |     - image: j',
      'ops |       name: b',
      'ci |     nodeSelector:',
      'ci |       disk: fast',
    ])
  })

  it('works without a schema and without managedFields', () => {
    const plain = { apiVersion: 'v1', kind: 'X', metadata: { name: 'a' }, list: [{ a: 1 }] }
    expect(blameLines(plain).every(({ owners }) => owners.length === 0)).toBe(true)
    const owned = apply({ applied: plain, manager: 'me' }).object
    expect(
      blame(owned)
        .filter(({ owners }) => owners.length > 0)
        .map(({ field }) => field),
    ).toEqual(['.list', '.list[0]', '.list[0].a'])
  })

  it('handles unusual member names', () => {
    const odd = apply({
      applied: {
        apiVersion: 'v1',
        kind: 'X',
        metadata: { name: 'a' },
        data: JSON.parse('{"__proto__":"1","a]b":"2","a.b[0]":"3"}'),
      },
      manager: 'me',
    })
    const lines = blameLines(odd.object).filter(({ owners }) => owners.length > 0)
    expect(lines.map(({ text }) => text.trim())).toEqual(['data:', '__proto__: "1"', 'a.b[0]: "3"', 'a]b: "2"'])
  })
})
