import { createFeatures, type Features, fakeClock, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { createAdmissionPlugins } from '../create-plugins.ts'
import type { PostJson } from '../environment.ts'
import { parseImagePolicyConfiguration } from '../image-policy/configuration.ts'
import { refusalOf, runAdmission } from '../testing/run-admission.ts'
import { imagePolicyWebhook } from './image-policy-webhook.ts'

const given = { kubeConfigFile: 'policy.kubeconfig', allowTTL: 50, denyTTL: 10, retryBackoff: 1, defaultAllow: false }
const pod = (image: string, annotations: Record<string, string> = {}) => ({
  metadata: { annotations },
  spec: { containers: [{ name: 'c', image }] },
})

/** Responds with the result of `review`, and records requests. */
function service(review: (image: string) => unknown, settings: object = {}, features?: Features) {
  const clock = fakeClock(0)
  const requests: { spec: { containers?: { image: string }[] } }[] = []
  const post: PostJson = async (body) => {
    const request = body as (typeof requests)[number]
    requests.push(request)
    const status = review(request.spec.containers?.[0]?.image ?? '')
    if (status instanceof Error) throw status
    return { ...request, status }
  }
  const configuration = parseImagePolicyConfiguration({ imagePolicy: { ...given, ...settings } })
  return { clock, requests, plugin: imagePolicyWebhook({ profile: stockProfile, features, clock, configuration, post }) }
}

describe('ImagePolicyWebhook', () => {
  it('sends images, namespace and matching annotations [P42, P234, P300]', async () => {
    const { plugin, requests } = service(() => ({ allowed: true, auditAnnotations: { by: 'scanner' } }))
    const object = pod('a', { 'team.image-policy.k8s.io/ticket': '7', other: 'x' })
    const result = await runAdmission(plugin, 'pods', {
      object: { ...object, spec: { ...object.spec, initContainers: [{ name: 'i', image: 'b' }] } },
    })
    expect(result.allowed).toBe(true)
    expect(result.annotations).toEqual({ 'imagepolicywebhook.image-policy.k8s.io/by': 'scanner' })
    expect(requests).toEqual([
      {
        apiVersion: 'imagepolicy.k8s.io/v1alpha1',
        kind: 'ImageReview',
        metadata: { creationTimestamp: null },
        spec: {
          containers: [{ image: 'a' }, { image: 'b' }],
          annotations: { 'team.image-policy.k8s.io/ticket': '7' },
          namespace: 'ns',
        },
        status: { allowed: false },
      },
    ])
  })

  it('sends reviews without a creationTimestamp from 1.34 on', async () => {
    const { plugin, requests } = service(() => ({ allowed: true }), {}, createFeatures('1.34'))
    await runAdmission(plugin, 'pods', { object: pod('a') })
    expect(requests).toEqual([expect.objectContaining({ kind: 'ImageReview', metadata: {} })])
  })

  it('refuses with the reason of the service [P300]', async () => {
    const { plugin } = service((image) => ({ allowed: false, ...(image === 'a' ? { reason: 'unsigned' } : {}) }))
    expect(refusalOf(await runAdmission(plugin, 'pods', { object: pod('a') }))).toBe(
      'pods "a" is forbidden: image policy webhook backend denied one or more images: unsigned',
    )
    expect(refusalOf(await runAdmission(plugin, 'pods', { object: pod('b') }))).toBe(
      'pods "a" is forbidden: one or more images rejected by webhook backend',
    )
  })

  it('caches allowed and denied reviews for their TTLs [P300]', async () => {
    const { plugin, requests, clock } = service((image) => ({ allowed: image === 'good' }))
    const both = async () => {
      await runAdmission(plugin, 'pods', { object: pod('good') })
      await runAdmission(plugin, 'pods', { object: pod('bad') })
      return requests.length
    }
    expect([await both(), await both()]).toEqual([2, 2])
    clock.advance(10_000)
    expect(await both()).toBe(3)
    clock.advance(40_000)
    expect(await both()).toBe(5)
  })

  it('reviews only ephemeral containers for that subresource [P300]', async () => {
    const { plugin, requests } = service(() => ({ allowed: true }))
    const object = { spec: { containers: [{ name: 'c', image: 'a' }], ephemeralContainers: [{ name: 'e', image: 'debug' }] } }
    await runAdmission(plugin, 'pods', { object, oldObject: object, subresource: 'ephemeralcontainers' })
    expect(requests[0]?.spec.containers).toEqual([{ image: 'debug' }])
  })

  it('applies defaultAllow when all retries fail [P300]', async () => {
    const lost = () => new Error('connection refused')
    const closed = service(lost)
    const result = runAdmission(closed.plugin, 'pods', { object: pod('a') })
    for (let i = 0; i < 8; i++) {
      await new Promise((resolve) => setImmediate(resolve))
      closed.clock.advance(10)
    }
    expect(refusalOf(await result)).toBe('pods "a" is forbidden: connection refused')
    expect(closed.requests).toHaveLength(5)
    const open = service(() => Object.assign(new Error('bad request'), { status: 400 }), { defaultAllow: true })
    const passed = await runAdmission(open.plugin, 'pods', { object: pod('a') })
    expect(passed).toMatchObject({ allowed: true, annotations: { 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' } })
    expect(open.requests).toHaveLength(1)
    const odd = service(() => undefined)
    expect(refusalOf(await runAdmission(odd.plugin, 'pods', { object: pod('a') }))).toContain('has no status')
  })

  it.each<[string, object, string]>([
    ['another version', { apiVersion: 'imagepolicy.k8s.io/v1', kind: 'ImageReview' }, 'imagepolicy.k8s.io/v1, Kind=ImageReview'],
    ['another kind', { apiVersion: 'imagepolicy.k8s.io/v1alpha1', kind: 'Status' }, 'Kind=Status'],
    ['another kind without a version', { kind: 'TokenReview' }, 'Kind=TokenReview'],
    ['a kind of another type', { kind: 1 }, 'cannot unmarshal number'],
    ['allowed as text', { status: { allowed: 'true' } }, 'ImageReviewStatus.status.allowed of type bool'],
    ['a reason of another type', { status: { allowed: true, reason: 1 } }, 'ImageReviewStatus.status.reason of type string'],
    ['a status of another type', { status: 'x' }, 'cannot unmarshal string'],
  ])('counts a response with %s as a failed call [P42, P300]', async (_, members, message) => {
    const post: PostJson = async () => ({ status: { allowed: true }, ...members })
    const plugin = (settings: object) => {
      const configuration = parseImagePolicyConfiguration({ imagePolicy: { ...given, ...settings } })
      return imagePolicyWebhook({ profile: stockProfile, clock: fakeClock(0), configuration, post })
    }
    const refusal = refusalOf(await runAdmission(plugin({}), 'pods', { object: pod('a') }))
    expect(refusal).toMatch(/^pods "a" is forbidden: /)
    expect(refusal).toContain(message)
    expect(refusal).not.toContain('denied one or more images')
    expect(await runAdmission(plugin({ defaultAllow: true }), 'pods', { object: pod('a') })).toMatchObject({
      allowed: true,
      annotations: { 'imagepolicywebhook.image-policy.k8s.io/failed-open': 'true' },
    })
  })

  it('reads a response without kind and apiVersion as an ImageReview [P42]', async () => {
    const configuration = parseImagePolicyConfiguration({ imagePolicy: given })
    const post: PostJson = async () => ({ status: { allowed: false, reason: 'unsigned' } })
    const plugin = imagePolicyWebhook({ profile: stockProfile, clock: fakeClock(0), configuration, post })
    expect(refusalOf(await runAdmission(plugin, 'pods', { object: pod('a') }))).toContain('unsigned')
  })

  it('parses its configuration: seconds, -1 disables, 0 is the default [P300]', () => {
    const parsed = (settings: object) => parseImagePolicyConfiguration({ imagePolicy: { kubeConfigFile: 'x', ...settings } })
    expect(parsed({})).toEqual({
      kubeConfigFile: 'x',
      allowMs: 300_000,
      denyMs: 30_000,
      retryBackoffMs: 500,
      defaultAllow: false,
    })
    expect(parsed({ allowTTL: -1, denyTTL: 1800, retryBackoff: 7 })).toMatchObject({
      allowMs: 0,
      denyMs: 1_800_000,
      retryBackoffMs: 7,
    })
    expect(() => parsed({ allowTTL: 1801 })).toThrow('imagePolicy.allowTTL must be between 1 and 1800')
    expect(() => parsed({ kubeConfigFile: '' })).toThrow('imagePolicy.kubeConfigFile must name a file')
    expect(() => parseImagePolicyConfiguration(undefined)).toThrow('imagePolicy must be set')
  })

  it('is not created without a connection to its service [P300]', () => {
    const random = { uuid: () => '', nameSuffix: () => '', bytes: () => new Uint8Array() }
    const choice = { enable: ['ImagePolicyWebhook'], configuration: new Map([['ImagePolicyWebhook', { imagePolicy: given }]]) }
    expect(() => createAdmissionPlugins({ random }, choice)).toThrow('no connection is configured')
    let path = ''
    const connect = (kubeconfig: string): PostJson => {
      path = kubeconfig
      return async () => undefined
    }
    expect(createAdmissionPlugins({ random, connect }, choice).some(({ name }) => name === 'ImagePolicyWebhook')).toBe(true)
    expect(path).toBe('policy.kubeconfig')
  })
})
