import type { ApiObject } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionChain } from '../chain.ts'
import type { AdmissionPlugin } from '../interfaces.ts'
import { attributesOf } from '../testing/request.ts'
import { append, deny, failureOf, label, type TestHook, testWebhooks } from '../testing/webhooks.ts'
import { mutatingWebhooks } from './mutating.ts'

const kind = 'mutatingwebhookconfigurations'
const configMap = (labels?: Record<string, string>): ApiObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'a', namespace: 'shop', ...(labels === undefined ? {} : { labels }) },
})
const creation = attributesOf('configmaps', { namespace: 'shop' })

function setup(configurations: Readonly<Record<string, readonly TestHook[]>>, plugins: readonly AdmissionPlugin[] = []) {
  const cluster = testWebhooks(kind, configurations)
  const chain = createAdmissionChain([...plugins, mutatingWebhooks(cluster.options)])
  const admit = (object: ApiObject = configMap(), attributes = creation) => chain.admit(object, attributes, cluster.context)
  return { ...cluster, chain, admit }
}

describe('mutating webhooks', () => {
  it('P273 are called one by one, by the names of their configurations and then as listed', async () => {
    const { admit, called } = setup({
      b: [
        { name: 'b2', response: append('x', 'b2') },
        { name: 'b1', response: append('x', 'b1') },
      ],
      a: [{ name: 'a1', response: append('x', 'a1') }],
    })
    const { metadata } = await admit()
    expect(called).toEqual(['a1', 'b2', 'b1'])
    expect(metadata.labels).toEqual({ x: 'a1b2b1' })
  })

  it('P58 what is handed in stays as it is', async () => {
    const { admit } = setup({ a: [{ name: 'a1', response: label('set', 'yes') }] })
    const given = Object.freeze(configMap({ t: 'c' }))
    expect((await admit(given)).metadata.labels).toEqual({ t: 'c', set: 'yes' })
    expect(given.metadata.labels).toEqual({ t: 'c' })
  })

  it('the object itself comes back when nobody changes it', async () => {
    const { admit } = setup({ a: [{ name: 'a1' }, { name: 'a2', response: { allowed: true, patch: [] } }] })
    const given = configMap()
    expect(await admit(given)).toBe(given)
  })

  it('P83 P274 one that wants to see later changes is called again, once, and others are not', async () => {
    const { admit, called } = setup({
      a: [
        { name: 'first', response: append('x', '1'), rest: { reinvocationPolicy: 'IfNeeded' } },
        { name: 'second', response: append('x', '2') },
        { name: 'third', response: append('x', '3'), rest: { reinvocationPolicy: 'IfNeeded' } },
      ],
    })
    expect((await admit()).metadata.labels).toEqual({ x: '12313' })
    expect(called).toEqual(['first', 'second', 'third', 'first', 'third'])
  })

  it('P83 by default nobody is called again', async () => {
    const { admit, called } = setup({
      a: [
        { name: 'a1', response: append('x', '1') },
        { name: 'a2', response: append('x', '2') },
      ],
    })
    await admit()
    expect(called).toEqual(['a1', 'a2'])
  })

  it('P274 built-in plugins run again after a change, and their changes are shown to who called for that', async () => {
    const counting: AdmissionPlugin = {
      name: 'Counting',
      handles: () => true,
      admit: (draft) => {
        draft.metadata.labels = { ...draft.metadata.labels, runs: String(Number(draft.metadata.labels?.['runs'] ?? 0) + 1) }
      },
    }
    const { admit, called } = setup(
      {
        a: [
          { name: 'seen', response: { allowed: true }, rest: { reinvocationPolicy: 'IfNeeded' } },
          { name: 'changing', response: label('set', 'yes') },
        ],
      },
      [counting],
    )
    expect((await admit()).metadata.labels).toEqual({ runs: '2', set: 'yes' })
    expect(called).toEqual(['seen', 'changing', 'seen'])
  })

  it('P274 without a change nothing runs again', async () => {
    let runs = 0
    const counting: AdmissionPlugin = { name: 'Counting', handles: () => true, check: () => void runs++ }
    const { admit } = setup({ a: [{ name: 'a1' }] }, [counting])
    await admit()
    expect(runs).toBe(1)
  })

  it('P319 a refusal ends the request, with the words of the webhook', async () => {
    const { admit, called } = setup({
      a: [{ name: 'a1', response: deny('not today', { code: 409, reason: 'Mine' }) }, { name: 'a2' }],
    })
    const { status } = await failureOf(admit())
    expect(status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'admission webhook "a1" denied the request: not today',
      reason: 'Mine',
      code: 409,
    })
    expect(called).toEqual(['a1'])
  })

  it.each([
    ['without words', undefined, 'denied the request without explanation', 400],
    ['by a reason alone', { reason: 'Because' }, 'denied the request: Because', 400],
    ['with a code of success', { code: 200, status: 'Success', message: 'fine' }, 'denied the request: fine', 400],
    ['with an odd code', { code: 799, message: 'odd' }, 'denied the request: odd', 799],
  ])('P56 P319 a refusal %s is one', async (_, status, message, code) => {
    const { admit } = setup({ a: [{ name: 'a1', response: { allowed: false, ...(status === undefined ? {} : { status }) } }] })
    const failure = await failureOf(admit())
    expect([failure.message, failure.code]).toEqual([`admission webhook "a1" ${message}`, code])
    expect(failure.status).toMatchObject({ status: 'Failure' })
  })

  it.each<[string, object[] | object, string]>([
    [
      'a test that fails',
      [{ op: 'test', path: '/metadata/name', value: 'b' }],
      'testing value /metadata/name failed: test failed',
    ],
    ['an unknown operation', [{ op: 'merge', path: '/data', value: {} }], 'Unexpected kind: merge'],
    ['a path outside of the object', [{ op: 'replace', path: '/spec/none', value: 1 }], 'missing path'],
    ['a path to a prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], ''],
    ['no list', { op: 'add' }, 'cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ])('P58 P320 %s is a fault of the patch: 500 even where failures are ignored', async (_, patch, message) => {
    const response = () => ({ allowed: true, patch: patch as object[] })
    const { admit, metrics } = setup({ a: [{ name: 'a1', response, rest: { failurePolicy: 'Ignore' } }] })
    const failure = await failureOf(admit())
    expect(failure.code).toBe(500)
    expect(failure.message).toContain(message)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(metrics[0]).toBe('rejected a1 admit CREATE apiserver_internal_error 0')
  })

  it('an object stays of its kind', async () => {
    const { admit } = setup({
      a: [{ name: 'a1', response: { allowed: true, patch: [{ op: 'replace', path: '/kind', value: 'Secret' }] } }],
    })
    const failure = await failureOf(admit())
    expect(failure.status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'converting (v1.Secret) to (core.ConfigMap): unknown conversion',
      code: 500,
    })
  })

  it('P51 creations are called about without an old object', async () => {
    const asking = setup({ a: [{ name: 'a1' }] })
    await asking.chain.admit(
      configMap({ t: 'new' }),
      attributesOf('configmaps', { operation: 'CREATE', namespace: 'shop' }),
      asking.context,
    )
    expect(asking.reviews[0]?.request).toMatchObject({ object: { metadata: { labels: { t: 'new' } } }, oldObject: null })
  })

  it('P50 deletions are called about without an object, and nothing of them can be changed', async () => {
    const deletion = attributesOf('configmaps', { operation: 'DELETE', namespace: 'shop', oldObject: configMap({ t: 'old' }) })
    const asking = setup({ a: [{ name: 'a1' }] })
    expect(await asking.chain.admit(undefined, deletion, asking.context)).toBeUndefined()
    expect(asking.reviews[0]?.request).toMatchObject({ object: null, oldObject: { metadata: { labels: { t: 'old' } } } })
    const changing = setup({ a: [{ name: 'a1', response: { allowed: true, patch: [{ op: 'add', path: '/x', value: 1 }] } }] })
    const failure = await failureOf(changing.chain.admit(undefined, deletion, changing.context))
    expect(failure.message).toContain('attempted to modify the object, which is not supported for this operation')
  })

  it('P306 the audit trail is told of every call, and of every patch where bodies are kept', async () => {
    const { admit, annotations } = setup({
      a: [
        { name: 'seen', rest: { reinvocationPolicy: 'IfNeeded' } },
        { name: 'far', rest: { rules: [] } },
        { name: 'changing', response: label('set', 'yes') },
      ],
    })
    await admit()
    const told = (webhook: string, mutated: boolean) => JSON.stringify({ configuration: 'a', webhook, mutated })
    const patch = [{ op: 'add', path: '/metadata/labels', value: { set: 'yes' } }]
    expect(annotations).toEqual([
      ['mutation.webhook.admission.k8s.io/round_0_index_0', told('seen', false), 'Metadata'],
      [
        'patch.webhook.admission.k8s.io/round_0_index_2',
        JSON.stringify({ configuration: 'a', webhook: 'changing', patch, patchType: 'JSONPatch' }),
        'Request',
      ],
      ['mutation.webhook.admission.k8s.io/round_0_index_2', told('changing', true), 'Metadata'],
      ['mutation.webhook.admission.k8s.io/round_1_index_0', told('seen', false), 'Metadata'],
    ])
  })

  it('P306 annotations of the webhook are kept under its name, where the name and key can be', async () => {
    const auditAnnotations = { key: 'value', 'a/b': 'no', '': 'no', '-x': 'no' }
    const { admit, annotations } = setup({ a: [{ name: 'hook.example.com', response: { allowed: true, auditAnnotations } }] })
    await admit()
    expect(annotations[0]).toEqual(['hook.example.com/key', 'value', 'Metadata'])
    expect(annotations).toHaveLength(2)
  })

  it('P307 calls are counted by what they amount to', async () => {
    const { admit, metrics } = setup({
      a: [{ name: 'fine' }, { name: 'refusing', response: deny('no', { code: 799 }) }],
    })
    await failureOf(admit())
    expect(metrics).toEqual([
      'called fine admit CREATE false 200',
      'rejected refusing admit CREATE no_error 799',
      'called refusing admit CREATE true 799',
    ])
  })

  it('P82 P320 a call that fails ends the request, or is passed over by its policy', async () => {
    const broken = () => {
      throw new Error('out of order')
    }
    const failing = setup({ a: [{ name: 'a1', response: broken }] })
    const failure = await failureOf(failing.admit())
    expect([failure.code, failure.reason, failure.message]).toEqual([
      500,
      'InternalError',
      'Internal error occurred: failed calling webhook "a1": failed to call webhook: out of order',
    ])
    expect(failing.metrics).toEqual(['rejected a1 admit CREATE calling_webhook_error 503', 'called a1 admit CREATE true 503'])
    const open = setup({
      a: [
        { name: 'a1', response: broken, rest: { failurePolicy: 'Ignore' } },
        { name: 'a2', response: label('set', 'yes') },
      ],
    })
    expect((await open.admit()).metadata.labels).toEqual({ set: 'yes' })
    expect(open.metrics.slice(0, 2)).toEqual(['called a1 admit CREATE false 503', 'failedOpen a1 admit CREATE'])
    expect(open.annotations.slice(0, 2)).toEqual([
      ['mutation.webhook.admission.k8s.io/round_0_index_0', '{"configuration":"a","webhook":"a1","mutated":false}', 'Metadata'],
      ['failed-open.mutation.webhook.admission.k8s.io/round_0_index_0', 'a1', 'Metadata'],
    ])
  })

  it('P81 P320 time that is over is a failed call', async () => {
    const { admit, clock } = setup({
      a: [{ name: 'a1', response: () => new Promise(() => undefined), rest: { timeoutSeconds: 3 } }],
    })
    const failing = failureOf(admit())
    await Promise.resolve()
    while (clock.pending === 0) await Promise.resolve()
    clock.advance(2999)
    expect(clock.pending).toBe(1)
    clock.advance(1)
    expect((await failing).message).toBe(
      'Internal error occurred: failed calling webhook "a1": failed to call webhook: Post "https://hooks.test/a1?timeout=3s": context deadline exceeded',
    )
    expect(clock.pending).toBe(0)
  })

  it('P320 the time of the whole request bounds each call, and ends it even where failures are ignored', async () => {
    const { options, context, clock } = testWebhooks(kind, {
      a: [{ name: 'a1', response: () => new Promise(() => undefined), rest: { failurePolicy: 'Ignore' } }],
    })
    const chain = createAdmissionChain([mutatingWebhooks(options)])
    const bounds = { signal: new AbortController().signal, deadline: clock.now() + 1500 }
    const failing = failureOf(chain.admit(configMap(), creation, { ...context, bounds }))
    while (clock.pending === 0) await Promise.resolve()
    clock.advance(1500)
    expect(await failing).toMatchObject({ code: 504, reason: 'Timeout' })
  })

  it('a client that leaves ends the call', async () => {
    const { options, context, clock } = testWebhooks(kind, { a: [{ name: 'a1', response: () => new Promise(() => undefined) }] })
    const leaving = new AbortController()
    const chain = createAdmissionChain([mutatingWebhooks(options)])
    const failing = failureOf(chain.admit(configMap(), creation, { ...context, bounds: { signal: leaving.signal } }))
    while (clock.pending === 0) await Promise.resolve()
    leaving.abort()
    expect((await failing).message).toContain('context canceled')
    expect(clock.pending).toBe(0)
  })

  it('P80 a dry run asks only webhooks that do nothing in one', async () => {
    const dry = { ...creation, dryRun: true }
    const withEffects = (sideEffects: string | null) => setup({ a: [{ name: 'a1', rest: { sideEffects } }] })
    for (const harmless of ['None', 'NoneOnDryRun']) {
      const { admit, reviews } = withEffects(harmless)
      await admit(configMap(), dry)
      expect(reviews[0]?.request['dryRun']).toBe(true)
    }
    const refusing = withEffects('Some')
    expect(await failureOf(refusing.admit(configMap(), dry))).toMatchObject({
      code: 400,
      message: 'admission webhook "a1" does not support dry run',
    })
    const old = withEffects(null)
    expect((await failureOf(old.admit(configMap(), dry))).message).toContain('Webhook SideEffects is nil')
    expect([...refusing.called, ...old.called]).toEqual([])
    const real = withEffects('Some')
    await real.admit()
    expect(real.called).toEqual(['a1'])
  })

  it('P59 warnings are passed on, of refusals too', async () => {
    const { admit, context } = setup({
      a: [
        { name: 'a1', response: { allowed: true, warnings: ['take care', ''] } },
        { name: 'a2', response: { ...deny('no'), warnings: ['really'] } },
      ],
    })
    await failureOf(admit())
    expect(context.warnings).toEqual(['take care', '', 'really'])
  })

  it('P79 a webhook that speaks no version that we do cannot be called', async () => {
    const { admit } = setup({ a: [{ name: 'a1', rest: { admissionReviewVersions: ['v7'] } }] })
    expect((await failureOf(admit())).message).toContain('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
  })

  it('configurations themselves are never shown', async () => {
    const { chain, context, called } = setup({ a: [{ name: 'a1', response: deny('no') }] })
    const group = 'admissionregistration.k8s.io'
    for (const resource of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations', 'validatingadmissionpolicies']) {
      const about = attributesOf(resource, { resource: { group, version: 'v1', resource } })
      await chain.admit({ apiVersion: `${group}/v1`, kind: 'X', metadata: { name: 'x' } }, about, context)
    }
    expect(called).toEqual([])
  })

  it('the decision is explained to whoever listens', async () => {
    const { chain, context } = setup({ a: [{ name: 'a1', response: label('set', 'yes') }] })
    const decisions: unknown[] = []
    await chain.admit(configMap(), creation, { ...context, trace: (decision) => void decisions.push(decision) })
    expect(decisions).toEqual([
      expect.objectContaining({
        plugin: 'MutatingAdmissionWebhook',
        outcome: 'changed',
        reasons: ['webhook a1 of a changed the object (round 0, index 0)'],
        changes: [{ op: 'add', path: '/metadata/labels', after: { set: 'yes' } }],
      }),
    ])
  })
})
