import type { AdmissionPlugin } from '@krmkit/admission'
import { ApiError, type ApiObject, createFeatures, type Random, seededRandom } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { FrozenObject } from './interfaces.ts'
import { sampleRegistry } from './testing/sample-registry.ts'
import { optimisticLockMessage } from './write/metadata.ts'

type ConfigMap = FrozenObject & { readonly data?: Readonly<Record<string, string>> }

const setData =
  (data: (now: Readonly<Record<string, string>>) => Record<string, string>) =>
  (current: FrozenObject | undefined): ApiObject => {
    const { metadata, ...rest } = current as ConfigMap
    const { resourceVersion: _, ...unversioned } = metadata
    return { ...rest, metadata: unversioned, data: data((current as ConfigMap).data ?? {}) } as unknown as ApiObject
  }

/** Random whose name suffixes come from a list; the last suffix repeats. */
function suffixes(...names: string[]): Random {
  const rest = seededRandom(1)
  return {
    ...rest,
    bytes: (n) => rest.bytes(n),
    uuid: () => rest.uuid(),
    nameSuffix: () => (names.length > 1 ? names.shift() : names[0]) ?? '',
  }
}

describe('get', () => {
  it('does not read the signal, which adapters create on first use, unless a version is waited for', async () => {
    const { create, store } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    const caller = {
      get signal(): AbortSignal {
        throw new Error('the signal was read')
      },
    }
    const entry = await store('configmaps').get({ namespace: 'ns', name: 'a', resourceVersion: '1' }, caller)
    expect(entry.key).toBe('/core/configmaps/ns/a')
    expect(() => store('configmaps').get({ namespace: 'ns', name: 'a', resourceVersion: '9999' }, caller)).toThrow('was read')
    expect(() => store('configmaps').get({ namespace: 'ns', name: 'b' }, caller)).toThrow('not found')
  })
})

describe('create', () => {
  it('assigns uid and creationTimestamp, and ignores those sent [P12] [P14]', async () => {
    const { create } = sampleRegistry()
    const metadata = {
      name: 'a',
      uid: 'mine',
      creationTimestamp: '2001-01-01T00:00:00Z',
      deletionTimestamp: '2001-01-01T00:00:00Z',
    }
    const { object, entry } = await create('configmaps', { metadata })
    expect(object.metadata).toMatchObject({ name: 'a', namespace: 'ns', creationTimestamp: '2024-01-01T00:00:00Z' })
    expect(object.metadata.uid).toMatch(/^[0-9a-f-]{36}$/)
    expect(object.metadata.deletionTimestamp).toBeUndefined()
    expect(object.metadata.resourceVersion).toBe(String(entry?.revision))
    expect(JSON.parse(new TextDecoder().decode(entry?.value))).toEqual(object)
    expect(Object.isFrozen(object.metadata)).toBe(true)
  })

  it('refuses a taken name [P5] [P6]', async () => {
    const { create } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    await expect(create('configmaps', { metadata: { name: 'a' } })).rejects.toMatchObject({
      code: 409,
      reason: 'AlreadyExists',
      message: 'configmaps "a" already exists',
    })
  })

  it('exactly one of many concurrent creations of a name succeeds', async () => {
    const { create } = sampleRegistry()
    const made = await Promise.allSettled(Array.from({ length: 32 }, () => create('configmaps', { metadata: { name: 'a' } })))
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of made) if (each.status === 'rejected') expect(each.reason).toMatchObject({ reason: 'AlreadyExists' })
  })

  it('tries another generated name, eight times in all [P10]', async () => {
    const { create, registry } = sampleRegistry({ random: suffixes('aaaaa', 'aaaaa', 'bbbbb', 'bbbbb') })
    expect((await create('configmaps', { metadata: { generateName: 'x-' } })).object.metadata.name).toBe('x-aaaaa')
    const second = await create('configmaps', { metadata: { generateName: 'x-' } })
    expect(second.object.metadata).toMatchObject({ name: 'x-bbbbb', generateName: 'x-' })
    const refused = create('configmaps', { metadata: { generateName: 'x-' } })
    await expect(refused).rejects.toMatchObject({ code: 409, reason: 'AlreadyExists' })
    await expect(refused).rejects.toThrow('x-bbbbb')
    expect(registry.resourceVersion).toBe(second.object.metadata.resourceVersion)
  })

  it('derives dependent fields again for each generated name that it tries [P10]', async () => {
    const { create } = sampleRegistry({ random: suffixes('aaaaa', 'aaaaa', 'bbbbb') })
    const spec = { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } }
    const job = () => ({ metadata: { generateName: 'x-' }, spec: structuredClone(spec) }) as Partial<ApiObject>
    await create('jobs', job())
    const { object } = await create('jobs', job())
    expect(object.metadata.labels).toMatchObject({ 'job-name': 'x-bbbbb', 'controller-uid': object.metadata.uid })
  })

  it('truncates long prefixes so that the name is a DNS label [P10]', async () => {
    const { create } = sampleRegistry({ random: suffixes('aaaaa') })
    const { object } = await create('configmaps', { metadata: { generateName: 'p'.repeat(100) } })
    expect(object.metadata.name).toBe(`${'p'.repeat(58)}aaaaa`)
  })

  it('reports that the existing object of that name is terminating', async () => {
    const { create, remove } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a', finalizers: ['example.com/hold'] } })
    await remove('configmaps', 'a')
    await expect(create('configmaps', { metadata: { name: 'a' } })).rejects.toThrow(
      'object is being deleted: configmaps "a" already exists',
    )
  })

  it('refuses another namespace and a resourceVersion', async () => {
    const { create } = sampleRegistry()
    await expect(create('configmaps', { metadata: { name: 'a', namespace: 'other' } })).rejects.toMatchObject({ code: 400 })
    await expect(create('configmaps', { metadata: { name: 'a', resourceVersion: '7' } })).rejects.toThrow(
      'resourceVersion should not be set on objects to be created',
    )
  })

  it('a dry run does everything but the write [P161]', async () => {
    const { create, storage, stored } = sampleRegistry()
    const before = storage.revision
    const { object, entry } = await create('configmaps', { metadata: { name: 'a' } }, { dryRun: true })
    expect(entry).toBeUndefined()
    expect(object.metadata.uid).toBeDefined()
    expect(object.metadata.resourceVersion).toBeUndefined()
    expect(storage.revision).toBe(before)
    expect(stored('configmaps', 'a')).toBeUndefined()
    await create('configmaps', { metadata: { name: 'a' } })
    await expect(create('configmaps', { metadata: { name: 'a' } }, { dryRun: true })).rejects.toMatchObject({ code: 409 })
  })

  it('a dry run returns the object as it would be stored [P196]', async () => {
    const { create } = sampleRegistry()
    const { object } = await create('roles', { metadata: { name: 'a' }, rules: [] }, { dryRun: true })
    expect(object).toMatchObject({ rules: null })
  })

  it.each<[string, object, object]>([
    ['the name that mutating admission chose', { name: 'chosen' }, { name: 'chosen', generateName: 'x-' }],
    ['a name with the prefix that mutating admission chose', { generateName: 'y-' }, { name: 'y-aaaaa', generateName: 'y-' }],
  ])('gives an object with generateName %s', async (_, chosen, expected) => {
    const plugin: AdmissionPlugin = {
      name: 'namer',
      handles: () => true,
      admit: (draft) => {
        Object.assign(draft.metadata, chosen)
      },
    }
    const { create } = sampleRegistry({ admission: [plugin], random: suffixes('aaaaa') })
    const { object } = await create('configmaps', { metadata: { generateName: 'x-' } })
    expect(object.metadata).toMatchObject(expected)
  })

  it('requires a name when mutating admission removes generateName', async () => {
    const plugin: AdmissionPlugin = {
      name: 'namer',
      handles: () => true,
      admit: (draft) => {
        delete draft.metadata.generateName
      },
    }
    const { create } = sampleRegistry({ admission: [plugin] })
    await expect(create('configmaps', { metadata: { generateName: 'x-' } })).rejects.toThrow(
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
    )
  })

  it('stores no selfLink, also when mutating admission sets it', async () => {
    const plugin: AdmissionPlugin = {
      name: 'linker',
      handles: () => true,
      admit: (draft) => {
        draft.metadata.selfLink = '/x'
      },
    }
    const { create } = sampleRegistry({ admission: [plugin] })
    expect((await create('configmaps', { metadata: { name: 'a' } })).object.metadata).not.toHaveProperty('selfLink')
  })

  it('validates the object after mutating admission; validating admission sees the stored object', async () => {
    const seen: unknown[] = []
    const plugin: AdmissionPlugin = {
      name: 'label',
      handles: () => true,
      admit: (draft) => {
        draft.metadata.labels = { added: draft.metadata.name === 'bad' ? 'not a label!' : 'yes' }
      },
      validate: (object) => void seen.push(object?.metadata.labels),
    }
    const { create } = sampleRegistry({ admission: [plugin] })
    expect((await create('configmaps', { metadata: { name: 'a' } })).object.metadata.labels).toEqual({ added: 'yes' })
    await expect(create('configmaps', { metadata: { name: 'bad' } })).rejects.toMatchObject({ code: 422 })
    expect(seen).toEqual([{ added: 'yes' }])
  })
})

describe('update', () => {
  it('names a refused object as mutating admission left it', async () => {
    const plugin: AdmissionPlugin = {
      name: 'namer',
      handles: ({ operation }) => operation === 'UPDATE',
      admit: (draft) => {
        draft.metadata.name = 'chosen'
      },
    }
    const { create, update } = sampleRegistry({ admission: [plugin] })
    await create('configmaps', { metadata: { name: 'a' }, data: {} })
    const change = setData(() => ({ n: '1' }))
    await expect(update('configmaps', { name: 'a', change })).rejects.toThrow(
      'ConfigMap "chosen" is invalid: metadata.name: Invalid value: "chosen": field is immutable',
    )
  })

  it('loses none of 64 concurrent increments without a resourceVersion', async () => {
    const { create, update, stored } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' }, data: { n: '0' } })
    const change = setData(({ n }) => ({ n: String(Number(n) + 1) }))
    const answers = await Promise.all(Array.from({ length: 64 }, () => update('configmaps', { name: 'a', change })))
    expect(stored('configmaps', 'a')?.['data']).toEqual({ n: '64' })
    expect(new Set(answers.map(({ object }) => object.metadata.resourceVersion)).size).toBe(64)
    expect(answers.map(({ object }) => Number((object as ConfigMap).data?.['n'])).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 64 }, (_, i) => i + 1),
    )
  })

  it('one of 16 writers with the same resourceVersion wins, the others conflict', async () => {
    const { create, update } = sampleRegistry()
    const { object } = await create('configmaps', { metadata: { name: 'a' } })
    const { resourceVersion = '' } = object.metadata
    const answers = await Promise.allSettled(
      Array.from({ length: 16 }, (_, i) =>
        update('configmaps', {
          name: 'a',
          change: (current) => {
            const next = setData(() => ({ i: String(i) }))(current)
            return { ...next, metadata: { ...next.metadata, resourceVersion } }
          },
        }),
      ),
    )
    expect(answers.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    for (const each of answers) {
      if (each.status === 'rejected')
        expect(each.reason).toMatchObject({ code: 409, message: expect.stringContaining(optimisticLockMessage) })
    }
  })

  it('an update that changes nothing keeps version and bytes', async () => {
    const { create, update, storage } = sampleRegistry()
    const made = await create('configmaps', { metadata: { name: 'a' }, data: { k: 'v' } })
    const answer = await update('configmaps', { name: 'a', change: setData((data) => ({ ...data })) })
    expect(answer.entry).toBe(made.entry)
    expect(answer.created).toBe(false)
    expect(storage.revision).toBe(made.entry?.revision)
  })

  it('fails with 404 for a missing object and 400 for an impossible name, or creates the object where allowed', async () => {
    const { update } = sampleRegistry()
    const change = (): ApiObject => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } })
    await expect(update('configmaps', { name: 'a', change })).rejects.toMatchObject({ code: 404 })
    await expect(update('configmaps', { name: 'a', change, createMissing: true, uid: 'x' })).rejects.toMatchObject({ code: 409 })
    expect((await update('configmaps', { name: 'a', change, createMissing: true })).created).toBe(true)
    await expect(update('configmaps', { name: '', change })).rejects.toMatchObject({ code: 404 })
    for (const name of ['.', '..', 'a/b', 'a%b'])
      await expect(update('configmaps', { name, change })).rejects.toMatchObject({ code: 400 })
  })

  it('16 concurrent creating updates create once and update 15 times', async () => {
    const { update, stored } = sampleRegistry()
    const change = (current: FrozenObject | undefined): ApiObject =>
      current === undefined
        ? { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { n: '1' } }
        : setData(({ n }) => ({ n: String(Number(n) + 1) }))(current)
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => update('configmaps', { name: 'a', change, createMissing: true })),
    )
    expect(answers.filter(({ created }) => created)).toHaveLength(1)
    expect(stored('configmaps', 'a')?.['data']).toEqual({ n: '16' })
  })

  it('conflicts with another uid', async () => {
    const { create, update } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    await expect(update('configmaps', { name: 'a', uid: 'other', change: setData(() => ({})) })).rejects.toThrow(
      'Precondition failed: UID in precondition: other',
    )
  })

  it.each([
    ['1.33', 409],
    ['1.34', 404],
  ])('answers an update of an object that is gone, with a uid, in %s with %i', async (version, code) => {
    const { update } = sampleRegistry({ features: createFeatures(version) })
    const change = setData(() => ({}))
    await expect(update('configmaps', { name: 'gone', uid: 'x', change })).rejects.toMatchObject({ code })
    await expect(update('configmaps', { name: 'gone', uid: 'x', change, createMissing: true })).rejects.toMatchObject({
      code: 409,
    })
  })

  it('stops retrying when the client has disconnected', async () => {
    const { create, store, context } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' } })
    const gone = new AbortController()
    const change = async (current: FrozenObject | undefined): Promise<ApiObject> => {
      gone.abort()
      await store('configmaps').updateStored(context(), {
        namespace: 'ns',
        name: 'a',
        subresource: '',
        change: setData(({ n = '0' }) => ({ n: String(Number(n) + 1) })),
      })
      return setData(() => ({ late: 'yes' }))(current)
    }
    const late = store('configmaps').updateStored(context({ signal: gone.signal }), {
      namespace: 'ns',
      name: 'a',
      subresource: '',
      change,
    })
    await expect(late).rejects.toBeInstanceOf(ApiError)
  })

  it('passes a frozen object to the change', async () => {
    const { create, update } = sampleRegistry()
    await create('configmaps', { metadata: { name: 'a' }, data: { k: 'v' } })
    const change = (current: FrozenObject | undefined): ApiObject => {
      expect(() => Object.assign((current as { data?: object }).data ?? {}, { k: 'w' })).toThrow(TypeError)
      return setData((data) => ({ ...data }))(current)
    }
    await update('configmaps', { name: 'a', change })
  })
})
