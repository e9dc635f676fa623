import { describe, expect, it } from 'vitest'
import { parseJson } from '../json/parse-json.direct.ts'
import { DecodeError } from '../schema-error.ts'
import { decodeFailureMessage, readTypeMeta, summarizeBody, unreadableTypeMeta } from './type-meta.ts'

/** Returns the message of the 400 response for a body, in the wording of kube-apiserver. */
function answer(text: string): string {
  const body = new TextEncoder().encode(text)
  try {
    let value: unknown
    try {
      value = parseJson(body).value
    } catch (error) {
      throw unreadableTypeMeta(error as DecodeError)
    }
    return JSON.stringify(readTypeMeta(value))
  } catch (error) {
    if (error instanceof DecodeError) return decodeFailureMessage(error, { expectedKind: 'ConfigMap', body })
    throw error
  }
}

const unrecognized =
  "the object provided is unrecognized (must be of type ConfigMap): couldn't get version/kind; json parse error: "
const goStruct = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

describe('readTypeMeta', () => {
  it('reads kind and apiVersion', () => {
    expect(answer('{"kind":"ConfigMap","apiVersion":"v1"}')).toBe('{"apiVersion":"v1","kind":"ConfigMap"}')
    expect(answer('{"kind":null}')).toBe('{"apiVersion":"","kind":""}')
    expect(answer('null')).toBe('{"apiVersion":"","kind":""}')
    expect(answer('{"__proto__":{"kind":"x"}}')).toBe('{"apiVersion":"","kind":""}')
  })

  it.each([
    ['', `${unrecognized}unexpected end of JSON input (<empty>)`],
    ['hello', `${unrecognized}invalid character 'h' looking for beginning of value (68656c6c6f)`],
    [
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"',
      `${unrecognized}unexpected end of JSON input ({"apiVersion":"v1","kind":"Con ...)`,
    ],
    ['[]', `${unrecognized}json: cannot unmarshal array into Go value of type ${goStruct} (5b5d)`],
    ['"a"', `${unrecognized}json: cannot unmarshal string into Go value of type ${goStruct} (226122)`],
    ['1', `${unrecognized}json: cannot unmarshal number into Go value of type ${goStruct} (31)`],
    ['{"kind":1}', `${unrecognized}json: cannot unmarshal number into Go struct field .kind of type string ({"kind":1})`],
    [
      '{"apiVersion":"a/b/c","kind":"ConfigMap"}',
      'the object provided is unrecognized (must be of type ConfigMap): unexpected GroupVersion string: a/b/c ({"apiVersion":"a/b/c","kind":" ...)',
    ],
  ])("reports Go's message for %j [P210]", (text, message) => {
    expect(answer(text)).toBe(message)
  })

  it('names the kind if it is known [P210]', () => {
    const about = { expectedKind: 'Secret', actual: { kind: 'ConfigMap', version: 'v1' }, body: new Uint8Array() }
    expect(decodeFailureMessage(new Error('why'), about)).toBe('ConfigMap in version "v1" cannot be handled as a Secret: why')
  })

  it('summarizes binary bodies', () => {
    expect(summarizeBody(Uint8Array.from([0x6b, 0x38, 0x73, 0]))).toBe('6b387300')
    expect(summarizeBody(new Uint8Array(40))).toBe(`${'00'.repeat(30)} ...`)
  })
})
