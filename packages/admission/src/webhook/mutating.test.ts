import { turnsDuring } from '@krmkit/base/testing'
import { type ApiObject, createFeatures, type Status } from '@krmkit/meta'
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

describe('large patches', () => {
  const data = Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`k${i}`, 'v']))

  it('are applied while other requests run', async () => {
    const { admit } = setup({
      a: [{ name: 'a1', response: { allowed: true, patch: [{ op: 'add', path: '/data', value: data }] } }],
    })
    const { result: admitted, turns } = await turnsDuring(admit)
    expect(turns).toBeGreaterThan(3)
    expect(admitted).toEqual({ ...configMap(), data })
  })
})

describe('mutating webhooks', () => {
  it('calls webhooks sequentially by configuration name, then in order [P273]', async () => {
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

  it('does not change its argument [P58]', async () => {
    const { admit } = setup({ a: [{ name: 'a1', response: label('set', 'yes') }] })
    const given = Object.freeze(configMap({ t: 'c' }))
    expect((await admit(given)).metadata.labels).toEqual({ t: 'c', set: 'yes' })
    expect(given.metadata.labels).toEqual({ t: 'c' })
  })

  it('returns the same object when no webhook changes it', async () => {
    const { admit } = setup({ a: [{ name: 'a1' }, { name: 'a2', response: { allowed: true, patch: [] } }] })
    const given = configMap()
    expect(await admit(given)).toBe(given)
  })

  it('reinvokes webhooks with policy IfNeeded once after a later change [P83, P274]', async () => {
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

  it('does not reinvoke webhooks by default [P83]', async () => {
    const { admit, called } = setup({
      a: [
        { name: 'a1', response: append('x', '1') },
        { name: 'a2', response: append('x', '2') },
      ],
    })
    await admit()
    expect(called).toEqual(['a1', 'a2'])
  })

  it('reruns built-in plugins after a change, and reinvokes webhooks for their changes [P274]', async () => {
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

  it('does not rerun plugins without a change [P274]', async () => {
    let runs = 0
    const counting: AdmissionPlugin = { name: 'Counting', handles: () => true, check: () => void runs++ }
    const { admit } = setup({ a: [{ name: 'a1' }] }, [counting])
    await admit()
    expect(runs).toBe(1)
  })

  it('refuses with the Status of the webhook [P319]', async () => {
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
    ['without a status', undefined, 'denied the request without explanation', 400],
    ['with a reason only', { reason: 'Because' }, 'denied the request: Because', 400],
    ['with a success code', { code: 200, status: 'Success', message: 'fine' }, 'denied the request: fine', 400],
    ['with an unusual code', { code: 799, message: 'odd' }, 'denied the request: odd', 799],
    ['with a code of four digits', { code: 1000, message: 'odd' }, 'denied the request: odd', 500],
    ['with a code of many digits', { code: 2147483647, message: 'odd' }, 'denied the request: odd', 500],
    ['with a negative code', { code: -1, message: 'odd' }, 'denied the request: odd', 400],
  ])('refuses %s [P56, P319]', async (_, status, message, code) => {
    const { admit } = setup({ a: [{ name: 'a1', response: { allowed: false, ...(status === undefined ? {} : { status }) } }] })
    const failure = await failureOf(admit())
    expect([failure.message, failure.code]).toEqual([`admission webhook "a1" ${message}`, code])
    expect(failure.status).toMatchObject({ status: 'Failure' })
  })

  it('cuts off long messages of a refusal, and its causes', async () => {
    const causes = Array.from({ length: 5000 }, () => ({ message: 'm'.repeat(100) }))
    const status = { message: 'm'.repeat(5_000_000), details: { causes } }
    const { admit } = setup({ a: [{ name: 'a1', response: { allowed: false, status } }] })
    const failure = await failureOf(admit())
    expect(failure.message.length).toBeLessThan(20_000)
    expect((failure.status as Status).details?.causes).toHaveLength(1000)
  })

  it.each<[string, object[] | object, string]>([
    [
      'a failed test operation',
      [{ op: 'test', path: '/metadata/name', value: 'b' }],
      'testing value /metadata/name failed: test failed',
    ],
    ['an unknown operation', [{ op: 'merge', path: '/data', value: {} }], 'Unexpected kind: merge'],
    ['a path outside the object', [{ op: 'replace', path: '/spec/none', value: 1 }], 'missing path'],
    ['a path to a prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], ''],
    ['a patch that is not a list', { op: 'add' }, 'cannot unmarshal object into Go value of type jsonpatch.Patch'],
  ])('fails with 500 for %s, even with failure policy Ignore [P58, P320]', async (_, patch, message) => {
    const response = () => ({ allowed: true, patch: patch as object[] })
    const { admit, metrics } = setup({ a: [{ name: 'a1', response, rest: { failurePolicy: 'Ignore' } }] })
    const failure = await failureOf(admit())
    expect(failure.code).toBe(500)
    expect(failure.message).toContain(message)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
    expect(metrics[0]).toBe('rejected a1 admit CREATE apiserver_internal_error 0')
  })

  it.each([{ op: 'add' }, 'no list'])('applies the failure policy to what is no patch from 1.34 on: %j', async (patch) => {
    const response = () => ({ allowed: true, patch: patch as unknown as object[] })
    const admitAt = (version: string, failurePolicy: string) => {
      const cluster = testWebhooks(kind, { a: [{ name: 'a1', response, rest: { failurePolicy } }] })
      const chain = createAdmissionChain([mutatingWebhooks({ ...cluster.options, features: createFeatures(version) })])
      return chain.admit(configMap(), creation, cluster.context)
    }
    expect((await failureOf(admitAt('1.33', 'Ignore'))).code).toBe(500)
    expect(await admitAt('1.34', 'Ignore')).toEqual(configMap())
    expect((await failureOf(admitAt('1.34', 'Fail'))).message).toContain(
      'failed calling webhook "a1": received undecodable patch in webhook response: json: cannot unmarshal',
    )
  })

  it('refuses a patch of the kind', async () => {
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

  it('sends no old object for CREATE [P51]', async () => {
    const creating = setup({ a: [{ name: 'a1' }] })
    await creating.chain.admit(
      configMap({ t: 'new' }),
      attributesOf('configmaps', { operation: 'CREATE', namespace: 'shop' }),
      creating.context,
    )
    expect(creating.reviews[0]?.request).toMatchObject({ object: { metadata: { labels: { t: 'new' } } }, oldObject: null })
  })

  it('sends no object for DELETE, and refuses a patch [P50]', async () => {
    const deletion = attributesOf('configmaps', { operation: 'DELETE', namespace: 'shop', oldObject: configMap({ t: 'old' }) })
    const deleting = setup({ a: [{ name: 'a1' }] })
    expect(await deleting.chain.admit(undefined, deletion, deleting.context)).toBeUndefined()
    expect(deleting.reviews[0]?.request).toMatchObject({ object: null, oldObject: { metadata: { labels: { t: 'old' } } } })
    const changing = setup({ a: [{ name: 'a1', response: { allowed: true, patch: [{ op: 'add', path: '/x', value: 1 }] } }] })
    const failure = await failureOf(changing.chain.admit(undefined, deletion, changing.context))
    expect(failure.message).toContain('attempted to modify the object, which is not supported for this operation')
  })

  it('annotates every call, and every patch at level Request [P306]', async () => {
    const { admit, annotations } = setup({
      a: [
        { name: 'seen', rest: { reinvocationPolicy: 'IfNeeded' } },
        { name: 'far', rest: { rules: [] } },
        { name: 'changing', response: label('set', 'yes') },
      ],
    })
    await admit()
    const annotation = (webhook: string, mutated: boolean) => JSON.stringify({ configuration: 'a', webhook, mutated })
    const patch = [{ op: 'add', path: '/metadata/labels', value: { set: 'yes' } }]
    expect(annotations).toEqual([
      ['mutation.webhook.admission.k8s.io/round_0_index_0', annotation('seen', false), 'Metadata'],
      [
        'patch.webhook.admission.k8s.io/round_0_index_2',
        JSON.stringify({ configuration: 'a', webhook: 'changing', patch, patchType: 'JSONPatch' }),
        'Request',
      ],
      ['mutation.webhook.admission.k8s.io/round_0_index_2', annotation('changing', true), 'Metadata'],
      ['mutation.webhook.admission.k8s.io/round_1_index_0', annotation('seen', false), 'Metadata'],
    ])
  })

  it('prefixes valid audit annotations with the webhook name [P306]', async () => {
    const auditAnnotations = { key: 'value', 'a/b': 'no', '': 'no', '-x': 'no' }
    const { admit, annotations } = setup({ a: [{ name: 'hook.example.com', response: { allowed: true, auditAnnotations } }] })
    await admit()
    expect(annotations[0]).toEqual(['hook.example.com/key', 'value', 'Metadata'])
    expect(annotations).toHaveLength(2)
  })

  it('records metrics by outcome [P307]', async () => {
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

  it('applies the failure policy to failed calls [P82, P307, P320]', async () => {
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
    expect(failing.metrics).toEqual(['rejected a1 admit CREATE calling_webhook_error 400', 'called a1 admit CREATE true 400'])
    const open = setup({
      a: [
        { name: 'a1', response: broken, rest: { failurePolicy: 'Ignore' } },
        { name: 'a2', response: label('set', 'yes') },
      ],
    })
    expect((await open.admit()).metadata.labels).toEqual({ set: 'yes' })
    expect(open.metrics.slice(0, 2)).toEqual(['called a1 admit CREATE false 400', 'failedOpen a1 admit CREATE'])
    expect(open.annotations.slice(0, 2)).toEqual([
      ['mutation.webhook.admission.k8s.io/round_0_index_0', '{"configuration":"a","webhook":"a1","mutated":false}', 'Metadata'],
      ['failed-open.mutation.webhook.admission.k8s.io/round_0_index_0', 'a1', 'Metadata'],
    ])
  })

  it('fails a call at its timeout [P81, P320]', async () => {
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

  it('ends the request at its deadline, even with failure policy Ignore [P320]', async () => {
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

  it('cancels the call when the client disconnects', async () => {
    const { options, context, clock } = testWebhooks(kind, { a: [{ name: 'a1', response: () => new Promise(() => undefined) }] })
    const disconnect = new AbortController()
    const chain = createAdmissionChain([mutatingWebhooks(options)])
    const failing = failureOf(chain.admit(configMap(), creation, { ...context, bounds: { signal: disconnect.signal } }))
    while (clock.pending === 0) await Promise.resolve()
    disconnect.abort()
    expect((await failing).message).toContain('context canceled')
    expect(clock.pending).toBe(0)
  })

  it('refuses webhooks with side effects in a dry run [P80]', async () => {
    const dry = { ...creation, dryRun: true }
    const withEffects = (sideEffects: string | null) => setup({ a: [{ name: 'a1', rest: { sideEffects } }] })
    for (const sideEffects of ['None', 'NoneOnDryRun']) {
      const { admit, reviews } = withEffects(sideEffects)
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

  it('forwards warnings, of refusals too [P59]', async () => {
    const { admit, context } = setup({
      a: [
        { name: 'a1', response: { allowed: true, warnings: ['take care', ''] } },
        { name: 'a2', response: { ...deny('no'), warnings: ['really'] } },
      ],
    })
    await failureOf(admit())
    expect(context.warnings).toEqual(['take care', '', 'really'])
  })

  it('fails for webhooks without a supported review version [P79]', async () => {
    const { admit } = setup({ a: [{ name: 'a1', rest: { admissionReviewVersions: ['v7'] } }] })
    expect((await failureOf(admit())).message).toContain('webhook does not accept known AdmissionReview versions (v1, v1beta1)')
  })

  it('does not call webhooks for webhook configurations', async () => {
    const { chain, context, called } = setup({ a: [{ name: 'a1', response: deny('no') }] })
    const group = 'admissionregistration.k8s.io'
    for (const resource of ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations', 'validatingadmissionpolicies']) {
      const about = attributesOf(resource, { resource: { group, version: 'v1', resource } })
      await chain.admit({ apiVersion: `${group}/v1`, kind: 'X', metadata: { name: 'x' } }, about, context)
    }
    expect(called).toEqual([])
  })

  it('traces changes with their reasons', async () => {
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
