import { runAtOnce } from '@krmkit/base/work'
import { describe, expect, it } from 'vitest'
import { readAdmissionResponse, readInProcessResponse, type SentReview } from './response.ts'

const sent: SentReview = { uid: 'u-1', version: 'v1', group: 'admission.k8s.io', type: 'admit' }
const older: SentReview = { ...sent, version: 'v1beta1' }
const validating: SentReview = { ...sent, type: 'validating' }

const bytes = (value: unknown) => new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value))
const review = (response: object | null | undefined, rest: object = {}) => ({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  response,
  ...rest,
})
const read = (value: unknown, expected: SentReview = sent) => runAtOnce(readAdmissionResponse(bytes(value), expected))
const patch = btoa('[]')

describe('readAdmissionResponse', () => {
  it('reads the uid, the decision and the status [P54, P55]', () => {
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
    ['a response without uid [P54]', review({ allowed: true }), 'expected response.uid="u-1", got ""'],
    ['another uid [P54]', review({ uid: 'u-2', allowed: true }), 'expected response.uid="u-1", got "u-2"'],
    ['a response without a decision [P55]', review({ uid: 'u-1' }), 'webhook response has no response.allowed'],
    [
      'a review without kind and apiVersion [P60]',
      { response: { uid: 'u-1', allowed: true } },
      'Kind=AdmissionReview, got /, Kind=',
    ],
    ['a review without a response', review(undefined), 'webhook response was absent'],
    ['a null response', review(null), 'webhook response was absent'],
    ['null', 'null', 'webhook response was absent'],
    ['a patch without its type [P57]', review({ uid: 'u-1', allowed: true, patch }), 'patch but not response.patchType'],
    [
      'a type without a patch [P57]',
      review({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' }),
      'patchType but not response.patch',
    ],
    ['an empty type [P57]', review({ uid: 'u-1', allowed: true, patch, patchType: '' }), 'invalid response.patchType'],
  ])('rejects %s', (_, value, message) => {
    expect(() => read(value)).toThrow(
      expect.objectContaining({ code: 'Invalid', httpCode: 503, message: expect.stringContaining(message) }),
    )
  })

  it.each<[string, unknown, string]>([
    ['a string', 'hello', 'cannot unmarshal string'],
    ['a list', [], 'cannot unmarshal array'],
    ['a truncated object', '{"kind":"AdmissionReview","resp', "couldn't get version/kind"],
    ['invalid YAML', 'a: b: c', 'yaml: mapping values are not allowed in this context'],
    [
      'a list of JSON',
      '[1]',
      "couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct {",
    ],
    ['a version with two slashes', review({}, { apiVersion: 'a/b/c' }), 'unexpected GroupVersion string: a/b/c'],
    ['a kind that is a number', { kind: 1 }, 'json: cannot unmarshal number into Go struct field .kind of type string'],
    ['a Status', { kind: 'Status', apiVersion: 'v1' }, 'converting (v1.Status) to (v1.AdmissionReview): unknown conversion'],
    ['options of the group', review({}, { kind: 'ListOptions' }), 'converting (v1.ListOptions) to (v1.AdmissionReview)'],
    ['a kind alone', { kind: 'Foo' }, 'no kind "Foo" is registered for version "admission.k8s.io/v1" in scheme "pkg/'],
    ['a version alone', { apiVersion: 'foo/v1' }, 'no kind "AdmissionReview" is registered for version "foo/v1" in scheme'],
    ['another kind [P60]', review({}, { kind: 'Review' }), 'no kind "Review" is registered'],
    ['another version [P60]', review({}, { apiVersion: 'admission.k8s.io/v1beta1' }), 'unknown conversion'],
    ['another group [P60]', review({}, { apiVersion: 'example.com/v1' }), 'no kind "AdmissionReview" is registered'],
    ['a decision that is a string [P55]', review({ uid: 'u-1', allowed: 'true' }), 'response.allowed of type bool'],
    [
      'warnings that are not a list [P59]',
      review({ uid: 'u-1', allowed: true, warnings: 'x' }),
      'response.warnings of type []string',
    ],
    [
      'warnings that are not strings [P59]',
      review({ uid: 'u-1', allowed: true, warnings: [1] }),
      'response.warnings of type string',
    ],
    ['a patch that is not base64 [P58]', review({ uid: 'u-1', allowed: true, patch: '***' }), 'illegal base64'],
    ['a code that is a string [P56]', review({ uid: 'u-1', allowed: false, status: { code: 'x' } }), 'status.code of type int32'],
    [
      'annotations that are not strings',
      review({ uid: 'u-1', allowed: true, auditAnnotations: { a: 1 } }),
      'response.auditAnnotations of type string',
    ],
    [
      'a code with a fraction',
      review({ status: { code: 4.5 } }),
      'unmarshal number 4.5 into Go struct field Status.response.status.code of',
    ],
    [
      'a uid that is a number [P54]',
      review({ uid: 1 }),
      'number into Go struct field AdmissionResponse.response.uid of type types.UID',
    ],
    ['a response that is not an object', { ...review({}), response: 1 }, 'v1.AdmissionResponse'],
  ])('fails to decode %s', (_, value, message) => {
    expect(() => read(value)).toThrow(
      expect.objectContaining({ code: 'Unreadable', httpCode: 400, message: expect.stringContaining(message) }),
    )
  })

  it('reads long responses in steps, and YAML only when it is short', () => {
    const steps = (text: string) => {
      const work = readAdmissionResponse(new TextEncoder().encode(text), sent)
      let count = 0
      for (let next = work.next(); ; next = work.next(), count++) if (next.done === true) return { count, response: next.value }
    }
    const long = JSON.stringify({ ...review({ uid: 'u-1', allowed: true }), more: Array.from({ length: 100_000 }, () => ({})) })
    const { count, response } = steps(long)
    expect(response.allowed).toBe(true)
    expect(count).toBeGreaterThan(100)
    const yaml = (items: number) =>
      `apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse:\n  uid: u-1\n  allowed: true\n  more:\n${'  - a\n'.repeat(items)}`
    expect(steps(yaml(10)).response.allowed).toBe(true)
    expect(() => steps(yaml(30_000))).toThrow("couldn't get version/kind; json parse error")
  })

  it('reads a limited number of audit annotations', () => {
    const auditAnnotations = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`, 'v']))
    expect(Object.keys(read(review({ uid: 'u-1', allowed: true, auditAnnotations })).auditAnnotations)).toHaveLength(1000)
  })

  it('copies the known members of a status [P56]', () => {
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

  it('decodes the patch [P57, P58]', () => {
    const { patch: found, patchType } = read(review({ uid: 'u-1', allowed: true, patch, patchType: 'JSONPatch' }))
    expect([new TextDecoder().decode(found as Uint8Array), patchType]).toEqual(['[]', 'JSONPatch'])
  })

  it('rejects patches of validating webhooks [P57]', () => {
    const patched = review({ uid: 'u-1', allowed: true, patch, patchType: 'JSONPatch' })
    expect(() => read(patched, validating)).toThrow('validating webhook may not return response.patch')
    expect(() => read(review({ uid: 'u-1', allowed: true, patchType: 'JSONPatch' }), validating)).toThrow('response.patchType')
    expect(() => readInProcessResponse({ allowed: true, patch: [] }, 'validating')).toThrow('response.patch')
  })

  it('parses YAML whatever the content type', () => {
    const yaml = 'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\nresponse: {uid: "u-1", allowed: true}\n'
    expect(read(yaml).allowed).toBe(true)
  })

  it('verifies only the decision of v1beta1 responses [P343]', () => {
    const response = (response: object) => ({ response })
    expect(read(response({ allowed: true }), older).allowed).toBe(true)
    expect(read(response({ allowed: true, uid: 'other', patch }), older)).toMatchObject({ patchType: 'JSONPatch' })
    expect(() => read(response({}), older)).toThrow('response.allowed')
    expect(() => read(review({ allowed: true }), older)).toThrow('unknown conversion')
  })

  it('ignores members of the prototype', () => {
    const text =
      '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u-1","__proto__":{"allowed":true}}}'
    expect(() => read(text)).toThrow('response.allowed')
  })
})
