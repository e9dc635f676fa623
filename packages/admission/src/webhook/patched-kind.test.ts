import { ApiError, type JsonValue } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { ObjectVersion, VersionConverter } from '../interfaces.ts'
import { checkPatchedKind } from './patched-kind.ts'

const version = (group: string, kind: string): ObjectVersion => ({
  resource: { group, version: 'v1', resource: 'things' },
  kind: { group, version: 'v1', kind },
})
const configMap = version('', 'ConfigMap')
const widget = version('k.example.com', 'K')
const versionConverter = {
  knowsKind: ({ group, kind }) => group === '' && ['ConfigMap', 'Secret'].includes(kind),
  isCustom: ({ kind }) => kind.group === 'k.example.com',
} as Partial<VersionConverter> as VersionConverter

function refusal(value: JsonValue, of: ObjectVersion): string | undefined {
  try {
    checkPatchedKind(value, of, versionConverter)
    return undefined
  } catch (error) {
    const { code, reason, message } = error as ApiError
    expect(ApiError.is(error)).toBe(true)
    return `${code} ${reason ?? ''} ${message}`
  }
}

/** Answers of kube-apiserver 1.33.13 to a mutating webhook with such a patch. */
describe('checkPatchedKind', () => {
  const internal = '500 InternalError Internal error occurred: '
  const noObject = `${internal}couldn't get version/kind; json parse error: json: cannot unmarshal`
  it.each<[JsonValue, string | undefined]>([
    [{ apiVersion: 'v1', kind: 'ConfigMap' }, undefined],
    [{ apiVersion: 'v1' }, undefined],
    [{ apiVersion: 'v1', kind: '' }, undefined],
    [null, undefined],
    [{ apiVersion: 'v1', kind: 'Secret' }, '500  converting (v1.Secret) to (core.ConfigMap): unknown conversion'],
    [{ apiVersion: 'v1', kind: 'Status' }, '500  converting (v1.Status) to (core.ConfigMap): unknown conversion'],
    [
      { apiVersion: 'v1', kind: 'Foo' },
      `${internal}no kind "Foo" is registered for version "v1" in scheme "pkg/runtime/scheme.go:110"`,
    ],
    [
      { apiVersion: 'k.example.com/v9', kind: 'ConfigMap' },
      `${internal}no kind "ConfigMap" is registered for version "k.example.com/v9" in scheme "pkg/runtime/scheme.go:110"`,
    ],
    [{ apiVersion: 'a/b/c', kind: 'ConfigMap' }, `${internal}unexpected GroupVersion string: a/b/c`],
    [{ apiVersion: 'v1', kind: 5 }, `${noObject} number into Go struct field .kind of type string`],
    [[], expect.stringContaining(`${noObject} array into Go value of type struct {`)],
  ])('judges a ConfigMap that becomes %j', (value, expected) => {
    expect(refusal(value, configMap)).toEqual(expected)
  })

  it.each<[JsonValue, string | undefined]>([
    [{ apiVersion: 'k.example.com/v1', kind: 'K' }, undefined],
    [
      { apiVersion: 'k.example.com/v1', kind: 'Foo', metadata: { name: 'a' } },
      '422 Invalid Foo.k.example.com "a" is invalid: kind: Invalid value: "Foo": must be K',
    ],
    [
      { apiVersion: 'v1', kind: 'Pod' },
      '500  /v1, Kind=Pod is unstructured and is not suitable for converting to "k.example.com/v1"',
    ],
    [{ kind: 'K' }, '500  /, Kind=K is unstructured and is not suitable for converting to "k.example.com/v1"'],
    [{ apiVersion: 'k.example.com/v9', kind: 'K' }, '500  request to convert CR from an invalid group/version: k.example.com/v9'],
    [{ apiVersion: 'k.example.com/v1' }, `${internal}Object 'Kind' is missing in '{"apiVersion":"k.example.com/v1"}'`],
  ])('judges a custom resource that becomes %j', (value, expected) => {
    expect(refusal(value, widget)).toEqual(expected)
  })
})
