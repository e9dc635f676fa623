import { ApiError, type ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from './chain.ts'
import { changesBetween } from './changes.ts'
import type { AdmissionDecision, AdmissionPlugin } from './interfaces.ts'
import { ObjectSet } from './object-set.ts'
import { attributesOf, contextOf } from './testing/request.ts'
import { clusterOf, frozen, runAdmission } from './testing/run-admission.ts'

const labelling: AdmissionPlugin = {
  name: 'Label',
  changes: 'members',
  handles: ({ resource }) => resource.resource === 'configmaps',
  admit({ metadata }, _attributes, { explain, annotate }) {
    explain?.('everything has a team')
    annotate?.('team', 'none')
    metadata.labels = { team: 'none', ...metadata.labels }
  },
}
const judging: AdmissionPlugin = {
  name: 'Judge',
  handles: () => true,
  validate(object, _attributes, { warn }) {
    warn('look')
    if (object?.metadata.name === 'bad') throw ApiError.forbidden({ group: '', resource: 'configmaps' }, 'bad', 'no')
  },
}

describe('admit', () => {
  it('returns the admitted object, and the changes and reasons of each plugin', async () => {
    const answer = await runAdmission([labelling, judging], 'configmaps', { object: { data: { a: 'b' } } })
    expect(answer).toMatchObject({
      allowed: true,
      object: { data: { a: 'b' }, metadata: { name: 'a', labels: { team: 'none' } } },
      warnings: ['look'],
      annotations: { team: 'none' },
    })
    const expectedDecisions: AdmissionDecision[] = [
      {
        plugin: 'Label',
        phase: 'mutating',
        outcome: 'changed',
        changes: [{ op: 'add', path: '/metadata/labels', after: { team: 'none' } }],
        reasons: ['everything has a team'],
        warnings: [],
        annotations: { team: 'none' },
      },
      { plugin: 'Judge', phase: 'validating', outcome: 'allowed', changes: [], reasons: [], warnings: ['look'], annotations: {} },
    ]
    expect(answer.decisions).toEqual(expectedDecisions)
  })

  it('names the plugin that refused', async () => {
    const answer = await runAdmission([labelling, judging], 'configmaps', { object: { metadata: { name: 'bad' } } })
    expect(answer).toMatchObject({
      allowed: false,
      refusedBy: 'Judge',
      status: { code: 403 },
      object: { metadata: { labels: {} } },
    })
    expect(answer.decisions.at(-1)).toMatchObject({ outcome: 'refused', message: 'configmaps "bad" is forbidden: no' })
  })

  it('runs defaultAndValidate between the phases', async () => {
    const between = (object: ApiObject) => {
      if (object.metadata.labels === undefined) throw ApiError.badRequest('no labels')
      return { ...object, data: { late: 'x' } }
    }
    expect(
      (await runAdmission([labelling], 'configmaps', { object: {} }, clusterOf(), { defaultAndValidate: between })).object,
    ).toMatchObject({
      data: { late: 'x' },
    })
    const answer = await runAdmission([], 'configmaps', { object: {} }, clusterOf(), { defaultAndValidate: between })
    expect(answer).toMatchObject({ allowed: false, status: { message: 'no labels' } })
    expect(answer.refusedBy).toBeUndefined()
  })

  it('throws errors of plugins that are not ApiErrors', async () => {
    const broken: AdmissionPlugin = {
      name: 'Broken',
      handles: () => true,
      admit: () => {
        throw new TypeError('oops')
      },
    }
    await expect(runAdmission([broken], 'configmaps', { object: {} })).rejects.toThrow('oops')
  })
})

describe('createAdmissionChain: details', () => {
  const object = frozen<ApiObject>({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })

  it('calls handles once for each target', async () => {
    let handleCalls = 0
    const counting: AdmissionPlugin = { name: 'Counting', handles: () => ++handleCalls > 0, validate: () => undefined }
    const chain = createAdmissionChain([counting])
    for (const name of ['a', 'b', 'c']) await chain.validate(object, attributesOf('configmaps', { name }), contextOf())
    await chain.admit(object, attributesOf('configmaps'), contextOf())
    expect(handleCalls).toBe(1)
    await chain.validate(object, attributesOf('secrets'), contextOf())
    expect(handleCalls).toBe(2)
  })

  it('returns the same object when no plugin changes it', async () => {
    const idle: AdmissionPlugin = { name: 'Idle', changes: 'members', handles: () => true, admit: () => undefined }
    const same: AdmissionPlugin = {
      name: 'Same',
      handles: () => true,
      admit: (draft) => void Object.assign(draft.metadata, { name: 'a' }),
    }
    expect(await createAdmissionChain([idle, same]).admit(object, attributesOf('configmaps'), contextOf())).toBe(object)
  })

  it('runs plugins a second time, and no more, on request', async () => {
    const rounds: (number | undefined)[] = []
    const asking: AdmissionPlugin = {
      name: 'Asking',
      handles: () => true,
      admit: (_draft, _attributes, context) => {
        rounds.push(context.reinvocation?.round, context.reinvocation?.values.size)
        context.reinvocation?.values.set('seen', true)
        context.reinvocation?.requestReinvocation()
      },
    }
    await createAdmissionChain([asking]).admit(object, attributesOf('configmaps'), contextOf())
    expect(rounds).toEqual([0, 0, 1, 1])
  })

  it('commits reservations in reverse order, and rolls them back when a later plugin refuses', async () => {
    const seen: string[] = []
    const reserving = (name: string): AdmissionPlugin => ({
      name,
      handles: () => true,
      validate: () => ({
        commit: () => void seen.push(`${name} commit`),
        rollback: () => void seen.push(`${name} rollback`),
      }),
    })
    const both = createAdmissionChain([reserving('a'), reserving('b')])
    const reservation = await both.validate(object, attributesOf('configmaps'), contextOf())
    await reservation?.commit()
    expect(seen.splice(0)).toEqual(['b commit', 'a commit'])
    const refusing = { ...judging, validate: () => Promise.reject(ApiError.badRequest('no')) }
    const chain = createAdmissionChain([reserving('a'), refusing])
    await expect(chain.validate(object, attributesOf('configmaps'), contextOf())).rejects.toThrow('no')
    expect(seen).toEqual(['a rollback'])
  })

  it('computes no decisions without a trace', async () => {
    const explained: boolean[] = []
    const plugin: AdmissionPlugin = {
      name: 'P',
      handles: () => true,
      admit: (_d, _a, { explain }) => void explained.push(explain !== undefined),
    }
    await createAdmissionChain([plugin]).admit(object, attributesOf('configmaps'), contextOf())
    expect(explained).toEqual([false])
  })
})

describe('changesBetween', () => {
  it.each([
    [{ a: 1 }, { a: 1 }, []],
    [
      { a: { b: 1, c: 2 } },
      { a: { b: 1, d: 3 } },
      [
        { op: 'remove', path: '/a/c', before: 2 },
        { op: 'add', path: '/a/d', after: 3 },
      ],
    ],
    [
      [1, 2],
      [1, 3, 4],
      [
        { op: 'replace', path: '/1', before: 2, after: 3 },
        { op: 'add', path: '/2', after: 4 },
      ],
    ],
    [{ 'x/y~z': 1 }, {}, [{ op: 'remove', path: '/x~1y~0z', before: 1 }]],
    [{ a: [1] }, { a: { 0: 1 } }, [{ op: 'replace', path: '/a', before: [1], after: { 0: 1 } }]],
    [{ a: undefined }, {}, []],
  ])('%j -> %j', (before, after, changes) => {
    expect(changesBetween(before, after)).toEqual(changes)
  })
})

describe('ObjectSet', () => {
  it('stores, lists and updates objects', async () => {
    const resource = { group: '', resource: 'configmaps' }
    const set = new ObjectSet()
    const object = (name: string): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } })
    await set.create(resource, 'b', object('x'))
    await set.create(resource, 'a', object('y'))
    await expect(set.create(resource, 'a', object('y'))).rejects.toMatchObject({ reason: 'AlreadyExists' })
    expect((await set.list(resource)).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)).toEqual(['a/y', 'b/x'])
    expect(await set.list(resource, 'b')).toHaveLength(1)
    const target = { ...resource, namespace: 'a', subresource: '' }
    const changed = await set.update({ ...target, name: 'y' }, (current) => ({
      ...(structuredClone(current) as ApiObject),
      data: {},
    }))
    expect(changed).toMatchObject({ data: {}, metadata: { resourceVersion: '3' } })
    await expect(set.update({ ...target, name: 'z' }, () => object('z'))).rejects.toMatchObject({ reason: 'NotFound' })
    expect(set.resourcesOf({ group: '', version: 'v1', kind: 'ConfigMap' })).toEqual([])
  })
})
