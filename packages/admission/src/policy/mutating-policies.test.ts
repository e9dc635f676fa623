import { createFeatures, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { builtInPlugins } from '../built-in-plugins.ts'
import { createAdmissionEnvironment } from '../environment.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { runMutatingPolicies } from '../testing/policies.ts'

const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } })
const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })
const data = async (...mutations: object[]) => (await runMutatingPolicies({ p: { mutations } })).object?.['data']
const message = async (spec: object) => (await runMutatingPolicies({ p: spec })).status?.message ?? ''
const denied = "policy 'p' with binding 'p' denied request: "

describe('mutations of a policy', () => {
  it('merge apply configurations into the object [P332]', async () => {
    const labels = 'Object{metadata: Object.metadata{labels: Object.metadata.labels{team: "a"}}}'
    const { object } = await runMutatingPolicies({ p: { mutations: [apply(labels), apply('Object{data: {"x": "1"}}')] } })
    expect(object).toMatchObject({ metadata: { name: 'a', labels: { team: 'a' } }, data: { k: 'v', x: '1' } })
  })

  it('apply JSON Patches, with escaped keys and object values', async () => {
    const operations = [
      'JSONPatch{op: "add", path: "/metadata/annotations", value: Object.metadata.annotations{a: "b"}}',
      'JSONPatch{op: "add", path: "/data/" + jsonpatch.escapeKey("a/b~c"), value: "x"}',
      'JSONPatch{op: "copy", from: "/data/k", path: "/data/copy"}',
    ]
    const { object } = await runMutatingPolicies({ p: { mutations: [patch(`[${operations.join(', ')}]`)] } })
    expect(object).toMatchObject({ metadata: { annotations: { a: 'b' } }, data: { k: 'v', 'a/b~c': 'x', copy: 'v' } })
  })

  it('run in order, each on the result of the one before', async () => {
    const count = (member: string) => apply(`Object{data: Object.data{${member}: variables.n}}`)
    const variables = [{ name: 'n', expression: 'string(size(object.data))' }]
    const { object } = await runMutatingPolicies({ p: { variables, mutations: [count('a'), count('b')] } })
    expect(object?.['data']).toEqual({ k: 'v', a: '1', b: '2' })
  })

  it('leave the object unchanged when a test operation fails', async () => {
    const operations = '[JSONPatch{op: "test", path: "/data/k", value: "w"}, JSONPatch{op: "remove", path: "/data/k"}]'
    expect(await data(patch(operations))).toEqual({ k: 'v' })
  })

  it('set optional members only when they have a value', async () => {
    expect(await data(apply('Object{data: Object.data{?x: object.data[?"k"], ?y: object.data[?"none"]}}'))).toEqual({
      k: 'v',
      x: 'v',
    })
  })

  it.each([
    [
      'a type name that does not match its path',
      apply('Object{metadata: Object.wrong{}}'),
      'unexpected type name "Object.wrong"',
    ],
    ['an evaluation error', apply('Object{data: Object.data{x: string(1/0)}}'), 'resulted in error: division by zero'],
    ['an atomic list', apply('Object{list: ["a"]}'), 'may not mutate atomic arrays, maps or structs: .list'],
    ['a JSON Patch that does not apply', patch('[JSONPatch{op: "remove", path: "/none"}]'), 'JSON Patch: '],
    ['an expression of another type', apply('"x"'), 'must evaluate to Object but got string'],
    ['a list of another type', patch('["x"]'), 'must evaluate to list(JSONPatch) but got list(string)'],
  ])('refuse the request with 403 for %s', async (_, mutation, text) => {
    const { status } = await runMutatingPolicies({ p: { mutations: [mutation] } })
    expect(status).toMatchObject({ code: 403, reason: 'Invalid', message: expect.stringContaining(text) })
    expect(status?.message).toContain(denied)
    expect(status?.details?.causes?.at(-1)?.message).toBe(status?.message)
  })

  it('are ignored on failure with the failure policy Ignore', async () => {
    const spec = { failurePolicy: 'Ignore', mutations: [apply('Object{data: Object.data{x: string(1/0)}}')] }
    const { allowed, object } = await runMutatingPolicies({ p: spec })
    expect([allowed, object?.['data']]).toEqual([true, { k: 'v' }])
  })
})

describe('invocations of a policy', () => {
  const mark = apply('Object{data: Object.data{x: "1"}}')

  it('depend on match conditions', async () => {
    const run = (expression: string) =>
      runMutatingPolicies({ p: { matchConditions: [{ name: 'c', expression }], mutations: [mark] } })
    expect((await run('object.data.k == "v"')).object?.['data']).toEqual({ k: 'v', x: '1' })
    expect((await run('object.data.k == "w"')).object?.['data']).toEqual({ k: 'v' })
    expect((await run('object.none == 1')).status?.message).toContain(denied)
  })

  it('run once for each parameter object', async () => {
    const spec = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      mutations: [patch('[JSONPatch{op: "add", path: "/data/" + params.metadata.name, value: params.data.v}]')],
    }
    const param = (v: string) => ({ kind: 'ConfigMap', metadata: { labels: { use: 'yes' } }, data: { v } })
    const objects = { 'configmaps/ns/one': param('1'), 'configmaps/ns/two': param('2') }
    const paramRef = { selector: { matchLabels: { use: 'yes' } }, parameterNotFoundAction: 'Deny' }
    const { object } = await runMutatingPolicies({ p: spec }, { objects, binding: { paramRef } })
    expect(object?.['data']).toEqual({ k: 'v', one: '1', two: '2' })
    const gone = await runMutatingPolicies(
      { p: spec },
      { binding: { paramRef: { ...paramRef, selector: undefined, name: 'gone' } } },
    )
    expect(gone.status?.message).toBe(
      `${denied}failed to configure binding: no params found for policy binding with \`Deny\` parameterNotFoundAction`,
    )
  })

  it('are refused for an unknown kind of parameters', async () => {
    const spec = { paramKind: { apiVersion: 'x.example/v1', kind: 'Nope' }, mutations: [mark] }
    expect(await message(spec)).toBe(
      'policy "p" denied request: failed to configure policy: failed to find resource referenced by paramKind: \'x.example/v1, Kind=Nope\'',
    )
  })

  it('do not happen for deletions and for policies themselves', async () => {
    const deletion = await runMutatingPolicies(
      { p: { mutations: [mark] } },
      { request: { object: undefined, oldObject: {}, operation: 'DELETE' } as never },
    )
    expect(deletion.allowed).toBe(true)
  })
})

describe('reinvocation', () => {
  const count = apply('Object{data: Object.data{count: object.data.?count.orValue("") + "x"}}')
  const changing = apply('Object{data: Object.data{later: "1"}}')

  it.each([
    ['Never', 'x'],
    ['IfNeeded', 'xx'],
  ])('runs a policy %s again after a later policy changes the object', async (reinvocationPolicy, expected) => {
    const { object } = await runMutatingPolicies({ a: { reinvocationPolicy, mutations: [count] }, b: { mutations: [changing] } })
    expect(object?.['data']).toEqual({ k: 'v', later: '1', count: expected })
  })

  it('runs other plugins again after a change', async () => {
    let calls = 0
    const plugin: AdmissionPlugin = { name: 'Counter', handles: () => true, admit: () => void calls++ }
    await runMutatingPolicies({ a: { mutations: [changing] } }, { plugins: [plugin] })
    expect(calls).toBe(2)
  })
})

it('is built in behind its feature gate [P332]', () => {
  const definition = builtInPlugins.find(({ name }) => name === 'MutatingAdmissionPolicy')
  const target = {
    operation: 'CREATE',
    subresource: '',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
  } as const
  const handles = (gates: Record<string, boolean>) =>
    definition
      ?.create(createAdmissionEnvironment({ random: seededRandom(1), features: createFeatures('1.33', gates) }), undefined)
      .handles(target)
  expect([handles({}), handles({ MutatingAdmissionPolicy: true })]).toEqual([false, true])
})
