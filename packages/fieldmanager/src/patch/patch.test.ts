import { runAtOnce } from '@krmkit/base/work'
import type { JsonObject, JsonValue } from '@krmkit/meta'
import { createTypeSource } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { FieldManagerError } from '../field-manager-error.ts'
import * as paced from '../paced.ts'
import { modelFiles } from '../testing/model.ts'
import { deepFreeze, readOwnVectors } from '../testing/vectors.ts'
import { createMergePatch } from './create-merge-patch.ts'
import { jsonPatch } from './json-patch.direct.ts'
import { mergePatch } from './merge-patch.direct.ts'
import { createThreeWayPatch, createTwoWayPatch } from './strategic-diff.ts'
import { strategicMergePatch } from './strategic-merge.direct.ts'
import { validateJsonPatch } from './validate-json-patch.ts'

interface Outcome {
  name: string
  source: string
  result?: JsonValue
  error?: string
}

function expectOutcome(vector: Outcome, run: () => JsonValue): void {
  if (vector.error === undefined) expect(run()).toEqual(vector.result)
  else expect(run).toThrow(expect.objectContaining({ code: vector.error }))
}

describe('mergePatch [P145]', () => {
  for (const vector of readOwnVectors<Outcome & { target: JsonValue; patch: JsonValue }>('merge-patch.json')) {
    it(vector.name, () => expectOutcome(vector, () => mergePatch(deepFreeze(vector.target), deepFreeze(vector.patch))))
  }

  it('sets a member named __proto__ without changing the prototype', () => {
    const result = mergePatch({}, JSON.parse('{"__proto__":{"x":1}}')) as JsonObject
    expect(Object.keys(result)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(result)).toBe(Object.prototype)
  })

  it('applies a created patch to the modified object', () => {
    const original = { a: 1, b: { c: 1, d: [1] }, e: 'x' }
    const modified = { b: { c: 2, d: [1] }, e: 'x', f: {} }
    const patch = createMergePatch(original, modified)
    expect(patch).toEqual({ a: null, b: { c: 2 }, f: {} })
    expect(mergePatch(original, patch)).toEqual(modified)
  })
})

describe('order of members', () => {
  const live = { z: { d: 1, c: [{ f: 1, e: 2 }] }, y: { b: 1, a: 2 }, x: 1 }

  it('sorts the objects that a merge patch changes or adds', () => {
    const patch = { w: { v: null, u: { t: 1, s: 2 }, r: [{ q: 1, p: 2 }] }, z: { c: 1 } }
    const expected = '{"w":{"r":[{"p":2,"q":1}],"u":{"s":2,"t":1}},"x":1,"y":{"b":1,"a":2},"z":{"c":1,"d":1}}'
    expect(JSON.stringify(mergePatch(live, patch))).toBe(expected)
    expect(JSON.stringify(runAtOnce(paced.mergePatch(live, patch)))).toBe(expected)
  })

  it('sorts only the objects that a JSON pointer traverses', () => {
    const operations = [
      { op: 'test', path: '/z/c/0/f', value: 1 },
      { op: 'add', path: '/w', value: { b: 1, a: 2 } },
      { op: 'copy', from: '/z', path: '/z/b' },
    ]
    const expected = '{"w":{"b":1,"a":2},"x":1,"y":{"b":1,"a":2},"z":{"b":{"c":[{"e":2,"f":1}],"d":1},"c":[{"e":2,"f":1}],"d":1}}'
    expect(JSON.stringify(jsonPatch(live, operations))).toBe(expected)
    expect(JSON.stringify(live)).toBe('{"z":{"d":1,"c":[{"f":1,"e":2}]},"y":{"b":1,"a":2},"x":1}')
  })
})

describe('jsonPatch [P145]', () => {
  for (const vector of readOwnVectors<Outcome & { document: JsonValue; operations: JsonValue }>('json-patch.json')) {
    it(vector.name, () => {
      const document = deepFreeze(vector.document)
      expectOutcome(vector, () => jsonPatch(document, deepFreeze(vector.operations)))
    })
  }

  it('reports unknown members of operations [P207]', () => {
    const operations = [{ op: 'add', path: '/a', value: 1, extra: true }, null, { op: 'test', path: '/a', value: 1, from: '/b' }]
    expect(validateJsonPatch(operations)).toEqual(['json patch unknown field "[0].extra"'])
    expect(validateJsonPatch(null)).toEqual([])
  })

  it.each([
    [{ op: 'test', path: '/b/a', value: 1 }, 'test operation does not apply: is missing path: /b/a: missing value'],
    [{ op: 'add', path: '/b/a', value: 1 }, 'add operation does not apply: doc is missing path: "/b/a": missing value'],
    [{ op: 'replace', path: '/b/a', value: 1 }, 'replace operation does not apply: doc is missing path: /b/a: missing value'],
    [{ op: 'replace', path: '/l/5', value: 1 }, 'replace operation does not apply: doc is missing key: /l/5: missing value'],
    [{ op: 'remove', path: '/a/b' }, "error in remove for path: '/a/b': Unable to remove nonexistent key: b: missing value"],
    [
      { op: 'remove', path: '/l/3' },
      "error in remove for path: '/l/3': Unable to access invalid index: 3: invalid index referenced",
    ],
    [{ op: 'move', from: '/a/b', path: '/x' }, "error in move for path: 'b': Unable to remove nonexistent key: b: missing value"],
    [
      { op: 'move', from: '/a', path: '/b/c' },
      'move operation does not apply: doc is missing destination path: /b/c: missing value',
    ],
    [{ op: 'copy', from: '/b/c', path: '/x' }, 'copy operation does not apply: doc is missing from path: /b/c: missing value'],
    [
      { op: 'add', path: '/l/x', value: 1 },
      `error in add for path: '/l/x': value was not a proper array index: 'x': strconv.Atoi: parsing "x": invalid syntax`,
    ],
    [{ op: 'test', path: '/a', value: 1 }, 'testing value /a failed: test failed'],
  ])('names why %j does not apply', (operation, message) => {
    expect(() => jsonPatch({ a: {}, l: [1] }, [operation])).toThrow(new FieldManagerError({ code: 'Unprocessable', message }))
  })

  it('limits the number of operations', () => {
    const operations = Array.from({ length: 3 }, () => ({ op: 'add', path: '/a', value: 1 }))
    const error = new FieldManagerError({
      code: 'TooManyOperations',
      message: 'The allowed maximum operations in a JSON patch is 2, got 3',
    })
    expect(() => jsonPatch({}, operations, { maxOperations: 2 })).toThrow(error)
  })

  it('limits the size added by copies', () => {
    const operations = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '', path: `/c${i}` }))
    expect(() => jsonPatch({ a: 'x'.repeat(10) }, operations)).toThrow(FieldManagerError)
    const doubling = Array.from({ length: 40 }, (_, i) => ({ op: 'copy', from: '/a', path: `/a/c${i}` }))
    expect(() => jsonPatch({ a: { x: 'y'.repeat(1000) } }, doubling)).toThrow(/accumulated size increase of copy is/)
  })

  it('copies and tests 64-bit integers', () => {
    const value = { a: 2n ** 60n }
    const copied = jsonPatch(value, [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'test', path: '/b', value: 2n ** 60n },
    ])
    expect(copied).toEqual({ a: 2n ** 60n, b: 2n ** 60n })
  })
})

describe('strategicMergePatch [P145]', () => {
  const source = createTypeSource(modelFiles())
  for (const vector of readOwnVectors<Outcome & { type: string; original: JsonValue; patch: JsonValue }>(
    'strategic-patch.json',
  )) {
    it(vector.name, () => {
      const type = source.struct(vector.type)
      expectOutcome(vector, () => strategicMergePatch(type, deepFreeze(vector.original), deepFreeze(vector.patch)))
    })
  }

  const original = {
    metadata: { labels: { a: '1', b: '2' }, finalizers: ['x', 'y'] },
    spec: {
      ports: [
        { port: 80, name: 'w' },
        { port: 53, name: 'd' },
      ],
      selector: { app: 'a' },
    },
  }
  const modified = {
    metadata: { labels: { b: '3' }, finalizers: ['y', 'z'] },
    spec: {
      ports: [
        { port: 443, name: 's' },
        { port: 80, name: 'web' },
      ],
      type: 'NodePort',
    },
  }

  it('applies a two-way patch to the modified object', () => {
    const type = source.struct('core/v1.Service')
    const patch = createTwoWayPatch(type, original, modified)
    expect(patch).toEqual({
      metadata: {
        labels: { a: null, b: '3' },
        finalizers: ['z'],
        '$deleteFromPrimitiveList/finalizers': ['x'],
        '$setElementOrder/finalizers': ['y', 'z'],
      },
      spec: {
        ports: [
          { port: 443, name: 's' },
          { port: 80, name: 'web' },
          { $patch: 'delete', port: 53 },
        ],
        '$setElementOrder/ports': [{ port: 443 }, { port: 80 }],
        selector: null,
        type: 'NodePort',
      },
    })
    expect(strategicMergePatch(type, original, patch)).toEqual(modified)
    expect(createTwoWayPatch(type, original, original)).toEqual({})
  })

  // Items are ordered as on kube-apiserver: new items take the memory of deleted ones.
  it.each([
    ['h g', '+f -h -e +a', 'f a', 'g f a'],
    ['b e a f', '-e -d +h', 'h', 'b a f h'],
    ['g e d a', '+h d -g a', 'h d a', 'e h d a'],
    ['d f h b e', 'f +c -d', 'f c', 'f h b e c'],
    ['h a b', '-h a +c -f', 'a c', 'a b c'],
    ['a b', 'b +c', 'b c', 'a b c'],
  ])('orders %j after %j with the order %j: %j', (live, changes, order, result) => {
    const split = (text: string) => text.split(' ')
    const container = (name: string) => ({ name })
    const change = (text: string) =>
      text.startsWith('-') ? { $patch: 'delete', name: text.slice(1) } : { name: text.replace('+', ''), image: 'new' }
    const patch = {
      spec: {
        containers: split(changes).map(change),
        '$setElementOrder/containers': split(order).map(container),
      },
    }
    const merged = strategicMergePatch(source.struct('core/v1.Pod'), { spec: { containers: split(live).map(container) } }, patch)
    const { spec } = merged as { spec: { containers: { name: string }[] } }
    expect(spec.containers.map(({ name }) => name).join(' ')).toBe(result)
  })

  it('deletes items of primitive lists before it adds items, in any order of the members', () => {
    const type = source.struct('core/v1.Service')
    const deletes = { '$deleteFromPrimitiveList/finalizers': ['a', 'b'] }
    const adds = { finalizers: ['b', 'c'] }
    for (const live of [{}, { finalizers: ['a'] }, { finalizers: ['a', 'b'] }])
      for (const metadata of [
        { ...deletes, ...adds },
        { ...adds, ...deletes },
      ])
        expect(strategicMergePatch(type, { metadata: live }, { metadata })).toEqual({ metadata: { finalizers: ['b', 'c'] } })
  })

  it('keeps live-only fields with a three-way patch', () => {
    const type = source.struct('core/v1.Service')
    const current = {
      metadata: { labels: { a: '1', b: '2', live: 'l' }, finalizers: ['x', 'y'] },
      spec: {
        ports: [
          { port: 80, name: 'w', targetPort: 80 },
          { port: 53, name: 'd' },
        ],
        selector: { app: 'a' },
        clusterIP: 'None',
      },
    }
    const patch = createThreeWayPatch(type, { original, modified, current })
    expect(strategicMergePatch(type, current, patch)).toEqual({
      metadata: { labels: { b: '3', live: 'l' }, finalizers: ['y', 'z'] },
      spec: {
        ports: [
          { port: 443, name: 's' },
          { port: 80, name: 'web', targetPort: 80 },
        ],
        clusterIP: 'None',
        type: 'NodePort',
      },
    })
  })

  it('reports concurrent changes of the live object', () => {
    const type = source.struct('core/v1.ConfigMap')
    const documents = { original: { data: { k: '1' } }, modified: { data: { k: '2' } }, current: { data: { k: '3' } } }
    expect(() => createThreeWayPatch(type, documents, { overwrite: false })).toThrow(
      expect.objectContaining({ code: 'Conflict' }),
    )
    expect(createThreeWayPatch(type, documents)).toEqual({ data: { k: '2' } })
    const agreed = { ...documents, current: { data: { k: '1', l: '1' } } }
    expect(createThreeWayPatch(type, agreed, { overwrite: false })).toEqual({ data: { k: '2' } })
  })

  it('retains only the listed keys of a field with retainKeys', () => {
    const type = source.struct('apps/v1.DeploymentSpec')
    const before = { strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1 } } }
    const patch = createTwoWayPatch(type, before, { strategy: { type: 'Recreate' } })
    expect(patch).toEqual({ strategy: { $retainKeys: ['type'], type: 'Recreate', rollingUpdate: null } })
    expect(strategicMergePatch(type, before, patch)).toEqual({ strategy: { type: 'Recreate' } })
  })
})
