import { describe, expect, it } from 'vitest'
import { readAdmissionResponse, readInProcessResponse, type SentReview } from './response.ts'

const asked: SentReview = { uid: 'u-1', version: 'v1', group: 'admission.k8s.io', type: 'admit' }
const older: SentReview = { ...asked, version: 'v1beta1' }
const judging: SentReview = { ...asked, type: 'validating' }

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const review = (response: object | null | undefined, rest: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response,
  ...rest,
})
const read = (value: unknown, ask: SentReview = asked) => readAdmissionResponse(bytes(value), ask)
const patch = btoa('[]')

describe('answers of webhooks', () => {
  it('P54 P55 hold the uid of the call and a verdict', () => {
    expect(read(review({ uid: 'u-1', allowed: true }))).toEqual({
      allowed: true,
      status: undefined,
      patch: undefined,
      patchType: '',
      warnings: [],
      auditAnnotations: {},
    })
    expect(read(review({ uid: 'u-1', allowed: false, status: { code: 418 } })).status).toMatchObject({ code: 418 })
  })

  it.each<[string, unknown, string]>([
    ['P54 no uid', review({ allowed: true }), 'expected response.uid="u-1", got ""'],
    ['P54 another uid', review({ uid: 'u-2', allowed: true }), 'expected response.uid="u-1", got "u-2"'],
    ['P55 no verdict', review({ uid: 'u-1' }), 'webhook response has no response.allowed'],
    ['P60 no type', { response: { uid: 'u-1', allowed: true } }, 'Kind=AdmissionReview, got /, Kind='],
    ['no response', review(undefined), 'webhook response was absent'],
    ['a null response', review(null), 'webhook response was absent'],
    ['P57 a patch without its type', review({ uid: 'u-1', allowed: true, patch }), 'patch but not response.patchType'],
    [
      'P57 a type without a patch',
      review({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' }),
      'patchType but not response.patch',
    ],
    ['P57 an empty type', review({ uid: 'u-1', allowed: true, patch, patchType: '' }), 'invalid response.patchType'],
  ])('%s is no answer', (_, value, message) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: 'Invalid', message: expect.stringContaining(message) }))
  })

  it.each<[string, unknown, string]>([
    ['text', 'hello', 'cannot unmarshal string'],
    ['a list', [], 'cannot unmarshal array'],
    ['half an object', '{"kind":"AdmissionReview","resp', "couldn't get version/kind"],
    ['no YAML either', 'a: b: c', "couldn't get version/kind"],
    ['P60 another kind', review({}, { kind: 'Review' }), 'no kind "Review" is registered'],
    ['P60 another version', review({}, { apiVersion: 'admission.k8s.io/v1beta1' }), 'unknown conversion'],
    ['P60 another group', review({}, { apiVersion: 'example.com/v1' }), 'no kind "AdmissionReview" is registered'],
    ['P55 a verdict in words', review({ uid: 'u-1', allowed: 'true' }), 'response.allowed of type bool'],
    ['P59 warnings that are no list', review({ uid: 'u-1', allowed: true, warnings: 'x' }), 'response.warnings of type []string'],
    ['P59 warnings that are no texts', review({ uid: 'u-1', allowed: true, warnings: [1] }), 'response.warnings of type string'],
    ['P58 a patch that is not base64', review({ uid: 'u-1', allowed: true, patch: '***' }), 'illegal base64'],
    ['P56 a code in words', review({ uid: 'u-1', allowed: false, status: { code: 'x' } }), 'status.code of type int32'],
    ['annotations that are no texts', review({ uid: 'u-1', allowed: true, auditAnnotations: { a: 1 } }), 'auditAnnotations.a'],
    ['a response that is no object', { ...review({}), response: 1 }, 'v1.AdmissionResponse'],
  ])('%s cannot be read', (_, value, message) => {
    expect(() => read(value)).toThrow(expect.objectContaining({ code: 'Unreadable', message: expect.stringContaining(message) }))
  })

  it('P56 a status is taken over member by member', () => {
    const status = {
      code: 422,
      status: 'Failure',
      reason: 'Invalid',
      message: 'fields',
      metadata: { resourceVersion: '5', selfLink: 'x' },
      details: { name: 'n', kind: 'K', bogus: 1, causes: [{ reason: 'R', field: 'f', message: 'm' }, {}], retryAfterSeconds: 7 },
    }
    expect(read(review({ uid: 'u-1', allowed: false, status })).status).toEqual({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: { resourceVersion: '5' },
      code: 422,
      status: 'Failure',
      reason: 'Invalid',
      message: 'fields',
      details: { name: 'n', kind: 'K', causes: [{ reason: 'R', field: 'f', message: 'm' }, {}], retryAfterSeconds: 7 },
    })
  })

  it('P57 P58 a patch comes decoded', () => {
    const { patch: found, patchType } = read(review({ uid: 'u-1', allowed: true, patch, patchType: 'JSONPatch' }))
    expect([new TextDecoder().decode(found as Uint8Array), patchType]).toEqual(['[]', 'JSONPatch'])
  })

  it('P57 judges may not patch', () => {
    const patched = review({ uid: 'u-1', allowed: true, patch, patchType: 'JSONPatch' })
    expect(() => read(patched, judging)).toThrow('validating webhook may not return response.patch')
    expect(() => read(review({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' }), judging)).toThrow('response.patchType')
    expect(() => readInProcessResponse({ allowed: true, patch: [] }, 'validating')).toThrow('response.patch')
  })

  it('YAML is read too, whatever type it claims', () => {
    const yaml = 'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {uid: "u-1", allowed: true}\n'
    expect(read(yaml).allowed).toBe(true)
  })

  it('P343 the older version is held to less, but must say whether it allows', () => {
    const answer = (response: object) => ({ response })
    expect(read(answer({ allowed: true }), older).allowed).toBe(true)
    expect(read(answer({ allowed: true, uid: 'other', patch }), older)).toMatchObject({ patchType: 'JSONPatch' })
    expect(() => read(answer({}), older)).toThrow('response.allowed')
    expect(() => read(review({ allowed: true }), older)).toThrow('unknown conversion')
  })

  it('members named like those of every object are nobody else’s', () => {
    const text =
      '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","__proto__":{"allowed":true}}}'
    expect(() => read(text)).toThrow('response.allowed')
  })
})
