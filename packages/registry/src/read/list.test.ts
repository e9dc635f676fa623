import { type ApiError, parseLabelSelector } from '@krmkit/meta'
import { parseFieldSelector } from '@krmkit/meta/selectors'
import { memoryStorage } from '@krmkit/storage'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { ListRequest, ListResult } from '../interfaces.ts'
import { objectKey } from '../keys.ts'
import { type SampleRegistry, sampleRegistry } from '../testing/sample-registry.ts'
import { decodeContinueToken } from './continue-token.ts'

let sample: SampleRegistry
/** Version of each object, a to e. */
let versions: number[]

beforeEach(async () => {
  sample = sampleRegistry()
  versions = []
  for (const name of ['c', 'a', 'e', 'b', 'd']) {
    const labels: Record<string, string> = 'aceg'.includes(name) ? { odd: 'yes' } : {}
    const { entry } = await sample.create('configmaps', { metadata: { name, labels } })
    versions.push(entry?.revision ?? 0)
  }
})

function list(request: Partial<ListRequest> = {}, signal = new AbortController().signal): Promise<ListResult> {
  return sample.store('configmaps').list({ namespace: '', ...request }, signal)
}

const names = ({ entries }: ListResult) => entries.map(({ key }) => key.split('/').at(-1)).join('')

describe('lists', () => {
  it('are in name order, at the newest version [P169]', async () => {
    const answer = await list()
    expect(names(answer)).toBe('abcde')
    expect(answer).toMatchObject({ resourceVersion: String(versions[4]), continueToken: '' })
    expect(answer.remaining).toBeUndefined()
    expect(names(await list({ namespace: 'ns' }))).toBe('abcde')
    expect(names(await list({ namespace: 'n' }))).toBe('')
  })

  it('are paged from one snapshot, with the number of remaining objects [P156] [P174]', async () => {
    const first = await list({ limit: 2 })
    expect([names(first), first.remaining]).toEqual(['ab', 3])
    await sample.create('configmaps', { metadata: { name: 'bb' } })
    await sample.remove('configmaps', 'd')
    const second = await list({ limit: 2, continueToken: first.continueToken })
    expect([names(second), second.remaining, second.resourceVersion]).toEqual(['cd', 1, first.resourceVersion])
    const third = await list({ limit: 2, continueToken: second.continueToken })
    expect([names(third), third.remaining, third.continueToken]).toEqual(['e', undefined, ''])
    expect(names(await list())).toBe('abbbce')
  })

  it('a limit that fits exactly has no next page [P156]', async () => {
    expect((await list({ limit: 5 })).continueToken).toBe('')
    expect((await list({ limit: 500 })).continueToken).toBe('')
  })

  it('selectors filter, and pages of a selective list have no remaining count [P157] [P158]', async () => {
    const labelSelector = parseLabelSelector('odd=yes')
    expect(names(await list({ labelSelector }))).toBe('ace')
    const first = await list({ labelSelector, limit: 2 })
    expect(names(first)).toBe('ac')
    expect(first.remaining).toBeUndefined()
    const second = await list({ labelSelector, limit: 2, continueToken: first.continueToken })
    expect([names(second), second.continueToken]).toEqual(['e', ''])
  })

  it('a field selector on the name reads and parses no object of another name [P157]', async () => {
    const { entries } = await list()
    for (const entry of entries) entry.memo = undefined
    const reads = entries.map((entry) => vi.spyOn(entry, 'value', 'get'))
    expect(names(await list({ fieldSelector: parseFieldSelector('metadata.name=c') }))).toBe('c')
    expect(entries.filter(({ memo }) => memo !== undefined).map(({ key }) => key)).toEqual(['/core/configmaps/ns/c'])
    expect(reads.filter((spy) => spy.mock.calls.length > 0)).toHaveLength(1)
  })

  it('a field selector on the name is one read [P157]', async () => {
    const fieldSelector = parseFieldSelector('metadata.name=c')
    expect(names(await list({ namespace: 'ns', fieldSelector }))).toBe('c')
    expect(names(await list({ fieldSelector }))).toBe('c')
    expect(names(await list({ namespace: 'ns', fieldSelector, labelSelector: parseLabelSelector('odd!=yes') }))).toBe('')
    expect(names(await list({ namespace: 'ns', fieldSelector: parseFieldSelector('metadata.name=..') }))).toBe('')
    expect(
      names(await list({ namespace: 'ns', fieldSelector: parseFieldSelector('metadata.name=c,metadata.namespace=x') })),
    ).toBe('')
  })
})

describe('versions that are not reached', () => {
  const refusal = async (request: Partial<ListRequest>) => {
    const refused = list(request).catch((error: ApiError) => error)
    // The wait for the version begins after the arguments have been checked.
    await Promise.resolve()
    await sample.clock.advance(3000)
    return (await refused) as ApiError
  }

  it('reports a 64-bit version exactly', async () => {
    const { message } = await refusal({ resourceVersion: '18446744073709551615' })
    expect(message).toBe(`Timeout: Too large resource version: 18446744073709551615, current: ${versions[4]}`)
  })

  it('answers a continue token of a future version with 504, not with an internal error [P317]', async () => {
    const token = { v: 'meta.k8s.io/v1', rv: 4_000_000, start: 'a' }
    const continueToken = Buffer.from(JSON.stringify(token)).toString('base64url')
    expect((await refusal({ continueToken })).message).toContain('Too large resource version: 4000000')
  })

  it('reports a malformed continue token before a malformed resourceVersion', async () => {
    await expect(list({ continueToken: 'x', resourceVersion: '1' })).rejects.toThrow('illegal base64 data at input byte 0')
  })
})

describe('long lists', () => {
  /** Stores objects as an earlier process has left them: only their bytes exist, and nothing is cached. */
  async function fill(count: number): Promise<void> {
    const filler = 'x'.repeat(40_000)
    for (let i = 0; i < count; i++) {
      const name = `n${String(i).padStart(4, '0')}`
      const metadata = { name, namespace: 'ns', labels: { rank: String(i), even: String(i % 2 === 0) } }
      const object = { kind: 'ConfigMap', apiVersion: 'v1', metadata, data: { filler } }
      await sample.storage.put(objectKey(sample.definition('configmaps'), 'ns', name), () =>
        Buffer.from(`${JSON.stringify(object)}\n`),
      )
    }
  }

  it('yield to the event loop while a selector filters, and show one snapshot', async () => {
    await fill(600)
    let turns = 0
    let working = true
    const turn = (): void => {
      // A concurrent deletion, which the list must not show.
      if (turns++ === 0) void sample.remove('configmaps', 'n0500')
      if (working) setImmediate(turn)
    }
    setImmediate(turn)
    const { entries, resourceVersion } = await list({ labelSelector: parseLabelSelector('even=true') })
    working = false
    expect(turns).toBeGreaterThan(1)
    expect(entries).toHaveLength(300)
    expect(entries.every((entry) => entry.revision <= Number(resourceVersion))).toBe(true)
    expect((await list({ labelSelector: parseLabelSelector('even=true') })).entries).toHaveLength(299)
  })

  it('pages contain the same objects as the whole list', async () => {
    await fill(1200)
    const labelSelector = parseLabelSelector('even=true,rank>900')
    const whole = names(await list({ labelSelector }))
    let pieces = ''
    let continueToken = ''
    do {
      const answer = await list({ labelSelector, limit: 40, continueToken })
      pieces += names(answer)
      continueToken = answer.continueToken
    } while (continueToken !== '')
    expect(pieces).toBe(whole)
    expect(whole).toHaveLength(149 * 5)
  })
})

describe('resource versions of lists', () => {
  const at = (i: number) => String(versions[i])

  it('unset and 0 read the newest snapshot [P169] [P170]', async () => {
    for (const resourceVersion of ['', '0']) expect(names(await list({ resourceVersion }))).toBe('abcde')
  })

  it('Exact reads exactly that version [P178]', async () => {
    const answer = await list({ resourceVersion: at(1), resourceVersionMatch: 'Exact' })
    expect([names(answer), answer.resourceVersion]).toEqual(['ac', String(versions[1])])
    const single = { resourceVersion: at(1), resourceVersionMatch: 'Exact', namespace: 'ns' }
    expect(names(await list({ ...single, fieldSelector: parseFieldSelector('metadata.name=b') }))).toBe('')
  })

  it('NotOlderThan and an unset match read at least that version; with a limit an unset match means Exact [P171] [P173] [P179]', async () => {
    expect(names(await list({ resourceVersion: at(1), resourceVersionMatch: 'NotOlderThan' }))).toBe('abcde')
    expect(names(await list({ resourceVersion: at(1) }))).toBe('abcde')
    expect(names(await list({ resourceVersion: at(1), limit: 10 }))).toBe('ac')
    expect(names(await list({ resourceVersion: at(1), limit: 10, resourceVersionMatch: 'NotOlderThan' }))).toBe('abcde')
  })

  it.each([
    [{ resourceVersionMatch: 'Exact' }, 'resourceVersionMatch is forbidden unless resourceVersion is provided'],
    [
      { resourceVersionMatch: 'Exact', resourceVersion: '0' },
      'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"',
    ],
    [{ resourceVersionMatch: 'Near', resourceVersion: '1' }, 'resourceVersionMatch: Unsupported value: "Near"'],
    [{ resourceVersion: 'x' }, 'invalid resource version'],
    [{ resourceVersion: '99999999999999999999' }, 'value out of range'],
    [{ continueToken: 'abc' }, 'invalid continue token'],
  ])('P154 P177 P309 refuses %j', async (request, why) => {
    await expect(list(request)).rejects.toMatchObject({ code: 400, message: expect.stringContaining(why) })
  })

  it('a continue token excludes resourceVersion and resourceVersionMatch [P175] [P176]', async () => {
    const { continueToken } = await list({ limit: 1 })
    await expect(list({ continueToken, resourceVersion: '1' })).rejects.toMatchObject({ code: 400 })
    await expect(list({ continueToken, resourceVersionMatch: 'Exact' })).rejects.toMatchObject({ code: 400 })
    expect(names(await list({ continueToken, resourceVersion: '0' }))).toBe('bcde')
  })

  it('waits for a future version until the timeout [P317] [P318]', async () => {
    const next = String((versions[4] ?? 0) + 1)
    const waiting = list({ resourceVersion: next })
    await sample.create('configmaps', { metadata: { name: 'f' } })
    expect(names(await waiting)).toBe('abcdef')
    const vain = list({ resourceVersion: '1000000' })
    const refused = expect(vain).rejects.toMatchObject({ code: 504, status: { details: { retryAfterSeconds: 1 } } })
    await sample.clock.advance(3_000)
    await refused
  })
})

describe('forgotten versions', () => {
  it('are 410; an expired token gets one that continues on the newest snapshot [P315] [P316]', async () => {
    const { clock } = sample
    sample = { ...sample, ...sampleRegistry({ storage: memoryStorage({ clock, historyMs: 1_000, minHistoryMs: 0 }) }) }
    for (const name of ['a', 'b', 'c']) await sample.create('configmaps', { metadata: { name } })
    const first = await list({ limit: 1 })
    await clock.advance(2_000)
    await sample.create('configmaps', { metadata: { name: 'aa' } })
    await clock.advance(2_000)
    await sample.create('configmaps', { metadata: { name: 'd' } })
    await expect(list({ resourceVersion: first.resourceVersion, resourceVersionMatch: 'Exact' })).rejects.toMatchObject({
      code: 410,
      reason: 'Expired',
    })
    const error = await list({ continueToken: first.continueToken }).then(
      () => undefined,
      (refusal: ApiError) => refusal,
    )
    expect(error?.code).toBe(410)
    const fresh = error?.status.metadata.continue ?? ''
    expect(decodeContinueToken(fresh).revision).toBe(-1)
    expect(names(await list({ continueToken: fresh }))).toBe('aabcd')
  })
})
