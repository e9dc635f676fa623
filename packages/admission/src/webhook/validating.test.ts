import { type ApiObject, createFeatures } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { attributesOf } from '../testing/request.ts'
import { deny, failureOf, type TestHook, testWebhooks } from '../testing/webhooks.ts'
import type { MatchConditions } from './interfaces.ts'
import { mutatingWebhooks } from './mutating.ts'
import type { WebhookOptions } from './options.ts'
import { validatingWebhooks } from './validating.ts'

const object: ApiObject = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace: 'shop' } }
const creation = attributesOf('configmaps', { namespace: 'shop' })

function setup(configurations: Readonly<Record<string, readonly TestHook[]>>, options: Partial<WebhookOptions> = {}) {
  const cluster = testWebhooks('validatingwebhookconfigurations', configurations, { options })
  const plugin = validatingWebhooks(cluster.options)
  return { ...cluster, validate: (attributes = creation) => plugin.validate?.(object, attributes, cluster.context) }
}

describe('validating webhooks', () => {
  it('calls webhooks in parallel [P275]', async () => {
    const order: string[] = []
    let release = () => {}
    const allCalled = new Promise<void>((resolve) => {
      release = resolve
    })
    const barrier = (name: string) => async () => {
      order.push(name)
      if (order.length === 3) release()
      await allCalled
      return { allowed: true }
    }
    const { validate } = setup({ a: ['a1', 'a2', 'a3'].map((name) => ({ name, response: barrier(name) })) })
    await validate()
    expect(order).toEqual(['a1', 'a2', 'a3'])
  })

  it('refuses with the first refusal to arrive [P276]', async () => {
    let refuse = () => {}
    const later = new Promise<void>((resolve) => {
      refuse = resolve
    })
    const { validate, called } = setup({
      a: [
        { name: 'slow', response: () => later.then(() => deny('late')) },
        { name: 'fine' },
        {
          name: 'quick',
          response: async () => {
            queueMicrotask(() => setTimeout(refuse))
            return deny('soon')
          },
        },
      ],
    })
    expect((await failureOf(validate())).message).toBe('admission webhook "quick" denied the request: soon')
    expect(called).toEqual(['slow', 'fine', 'quick'])
  })

  it('records and annotates failures that the failure policy ignores [P307, P320]', async () => {
    const broken = () => {
      throw new Error('out of order')
    }
    const { validate, metrics, annotations } = setup({
      a: [
        { name: 'fine' },
        { name: 'open', response: broken, rest: { failurePolicy: 'Ignore' } },
        { name: 'no', response: deny('no') },
      ],
    })
    await failureOf(validate())
    expect(metrics.toSorted()).toEqual([
      'called fine validating CREATE false 200',
      'called no validating CREATE true 400',
      'called open validating CREATE false 400',
      'failedOpen open validating CREATE',
      'rejected no validating CREATE no_error 400',
    ])
    expect(annotations).toEqual([['failed-open.validating.webhook.admission.k8s.io/round_0_index_1', 'open', 'Metadata']])
  })

  it('refuses failed calls by default [P320]', async () => {
    const { validate } = setup({ a: [{ name: 'a1', rest: { clientConfig: {} } }] })
    expect((await failureOf(validate())).message).toBe(
      'Internal error occurred: failed calling webhook "a1": could not get REST client: webhook configuration must have either service or URL',
    )
  })

  it('calls no webhook after the client has disconnected', async () => {
    const { options, context, called } = testWebhooks('validatingwebhookconfigurations', { a: [{ name: 'a1' }] })
    const bounds = { signal: AbortSignal.abort() }
    const failure = await failureOf(validatingWebhooks(options).validate?.(object, creation, { ...context, bounds }))
    expect(failure).toMatchObject({ code: 504 })
    expect(called).toEqual([])
  })
})

describe('match conditions', () => {
  const conditions = (...expressions: string[]) => ({
    matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
  })
  /** Evaluates the expressions `true`, `false` and `error`. */
  const evaluator: MatchConditions = {
    compile: (list) => () => {
      if (list.some(({ expression }) => expression === 'false')) return { outcome: 'noMatch' }
      if (list.some(({ expression }) => expression === 'error')) return { outcome: 'error', message: 'no such key: data' }
      return { outcome: 'match' }
    },
  }

  it('decide whether the webhook is called', async () => {
    const { validate, called, metrics } = setup(
      {
        a: [
          { name: 'yes', rest: conditions('true') },
          { name: 'no', rest: conditions('false', 'error') },
        ],
      },
      { conditions: evaluator },
    )
    await validate()
    expect(called).toEqual(['yes'])
    expect(metrics).toContain('noMatch no validating CREATE')
  })

  it('refuse on errors, unless the failure policy is Ignore', async () => {
    const failing = setup({ a: [{ name: 'a1', rest: conditions('error') }] }, { conditions: evaluator })
    expect(await failureOf(failing.validate())).toMatchObject({
      code: 403,
      message: 'configmaps "a" is forbidden: no such key: data',
    })
    const open = setup(
      { a: [{ name: 'a1', rest: { ...conditions('error'), failurePolicy: 'Ignore' } }] },
      { conditions: evaluator },
    )
    await open.validate()
    expect([...failing.called, ...open.called]).toEqual([])
  })

  it('refuse without an evaluator', async () => {
    const { validate } = setup({ a: [{ name: 'a1', rest: conditions('true') }] })
    expect((await failureOf(validate())).message).toContain('match conditions cannot be evaluated')
  })

  it('are compiled once', async () => {
    let compiled = 0
    const counting: MatchConditions = { compile: () => (compiled++, () => ({ outcome: 'match' })) }
    const { validate } = setup({ a: [{ name: 'a1', rest: conditions('true') }] }, { conditions: counting })
    await validate()
    await validate()
    expect(compiled).toBe(1)
  })
})

it('reviews of authentication and authorization reach no webhook since 1.37', () => {
  const handled = (release: string, group: string, resource: string) => {
    const { options } = testWebhooks('validatingwebhookconfigurations', {}, { options: { features: createFeatures(release) } })
    const target = { ...creation, resource: { group, version: 'v1', resource } }
    return [validatingWebhooks(options), mutatingWebhooks(options)].map((plugin) => plugin.handles(target))
  }
  expect(handled('1.37', 'authorization.k8s.io', 'subjectaccessreviews')).toEqual([false, false])
  expect(handled('1.37', 'authentication.k8s.io', 'tokenreviews')).toEqual([false, false])
  expect(handled('1.37', 'authentication.example.com', 'tokenreviews')).toEqual([true, true])
  expect(handled('1.36', 'authorization.k8s.io', 'subjectaccessreviews')).toEqual([true, true])
})
