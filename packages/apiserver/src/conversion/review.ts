import { isDeepStrictEqual } from 'node:util'
import {
  type ApiObject,
  type DeepReadonly,
  formatFieldErrors,
  type JsonObject,
  type JsonValue,
  Path,
  parseApiVersion,
  validateAnnotations,
  validateLabels,
} from '@krmkit/meta'
import { DecodeError, parseJson, stringifyJson } from '@krmkit/schema'

/**
 * What a conversion webhook is shown and what its answer is worth: a `ConversionReview` of version `v1` or `v1beta1`.
 *
 * @see stock server, `apiextensions-apiserver/pkg/apiserver/conversion`
 */

const group = 'apiextensions.k8s.io'
const supportedVersions = ['v1', 'v1beta1'] as const

export type ReviewVersion = (typeof supportedVersions)[number]

/** The first version of a list that is known here. */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')
}

export interface ReviewRequest {
  readonly uid: string
  readonly version: ReviewVersion
  readonly desiredAPIVersion: string
  readonly objects: readonly DeepReadonly<ApiObject>[]
}

export function reviewText({ uid, version, desiredAPIVersion, objects }: ReviewRequest): string {
  return JSON.stringify({
    kind: 'ConversionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion, objects },
  })
}

/** The converted objects of an answer. @throws Error with the words of the stock server. */
export function convertedObjects(bytes: Uint8Array, { uid, version }: Pick<ReviewRequest, 'uid' | 'version'>): JsonValue[] {
  const answer = reviewOf(parseResponse(bytes), version)
  const { kind, apiVersion, response } = answer
  // The older version never had to say what it is, and which question it answers.
  if (version === 'v1' && (kind !== 'ConversionReview' || apiVersion !== `${group}/v1`)) {
    const given = groupVersionKind(apiVersion, kind)
    throw new Error(`expected webhook response of ${group}/v1, Kind=ConversionReview, got ${given}`)
  }
  if (!isObject(response)) throw new Error('no response provided')
  const given = textOf(response.uid)
  if (version === 'v1' && given !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`)
  }
  const result = isObject(response.result) ? response.result : {}
  const status = textOf(result.status)
  if (status !== 'Success') {
    const message = textOf(result.message)
    throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : message)
  }
  return Array.isArray(response.convertedObjects) ? response.convertedObjects : []
}

/** The answer as a review; one that is something else we know is as good as empty. @throws Error for what nobody knows, and failures */
function reviewOf(answer: JsonObject, version: ReviewVersion): JsonObject {
  const apiVersion = textOf(answer.apiVersion) || `${group}/${version}`
  const kind = textOf(answer.kind) || 'ConversionReview'
  if (kind === 'ConversionReview' && supportedVersions.some((each) => apiVersion === `${group}/${each}`)) {
    return apiVersion === `${group}/${version}` ? answer : {}
  }
  if (kind !== 'Status' || apiVersion !== 'v1') {
    const what = `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(apiVersion)}`
    throw new Error(`${what} in scheme "pkg/runtime/scheme.go:110"`)
  }
  if (answer.status !== 'Success') throw new Error(textOf(answer.message))
  return {}
}

function parseResponse(bytes: Uint8Array): JsonObject {
  try {
    const { value } = parseJson(bytes)
    if (isObject(value as JsonValue)) return value as JsonObject
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    throw new Error(error.message)
  }
  throw new Error("couldn't get version/kind; json parse error: the answer is no object")
}

/** A failure that is told without the name of the webhook. */
export class UnprefixedError extends Error {}

export interface ExpectedObject {
  readonly original: DeepReadonly<ApiObject>
  readonly apiVersion: string
  /** One of a list: refusals say which. Absent: it was asked for alone. */
  readonly index?: number
}

/**
 * A converted object with the metadata of the original, apart from labels and annotations, which are the webhook's to change.
 *
 * @throws Error when it is another object, or of another version.
 */
export function restoreObject(converted: JsonValue, { original, apiVersion, index }: ExpectedObject): ApiObject {
  const place = index === undefined ? 'object at index 0' : `converted object at index ${index}`
  const where = index === undefined ? '' : ` at index ${index}`
  if (!isObject(converted)) throw new Error(`returned invalid ${place}: the object is no JSON object`)
  if (textOf(converted.kind) === '') {
    const missing = `Object 'Kind' is missing in '${stringifyJson(converted)}'`
    throw index === undefined ? new UnprefixedError(missing) : new Error(`returned invalid ${place}: ${missing}`)
  }
  if (converted.apiVersion !== apiVersion) {
    const got = textOf(converted.apiVersion)
    throw new Error(`returned invalid ${place}: invalid groupVersion (expected ${apiVersion}, received ${got})`)
  }
  if (converted.kind !== original.kind) {
    throw new Error(`returned invalid ${place}: invalid kind (expected ${original.kind}, received ${textOf(converted.kind)})`)
  }
  const same = validateIdentity(converted, original)
  const what = index === undefined ? 'object' : 'converted object'
  if (same !== undefined) throw new Error(`returned invalid ${what}${where}: ${same}`)
  try {
    return { ...converted, metadata: restoreMetadata(converted, original) } as unknown as ApiObject
  } catch (error) {
    const inObject = index === undefined ? '' : ` in object at index ${index}`
    throw new Error(`returned invalid metadata${inObject}: ${(error as Error).message}`)
  }
}

function validateIdentity(converted: JsonObject, original: DeepReadonly<ApiObject>): string | undefined {
  const metadata = isObject(converted.metadata) ? converted.metadata : {}
  for (const [member, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata[member] ?? ''
    const after = textOf(metadata[member])
    if (before !== after) return `must have the same ${name}: ${before} != ${after}`
  }
  return undefined
}

function restoreMetadata(converted: JsonObject, original: DeepReadonly<ApiObject>): JsonObject {
  const given = converted.metadata
  if (given === undefined) throw new Error('missing metadata in converted object')
  if (!isObject(given)) throw new Error(`invalid metadata of type ${goType(given)} in converted object`)
  const metadata: JsonObject = { ...(original.metadata as unknown as JsonObject) }
  for (const [name, validate, place] of [
    ['labels', validateLabels, 'labels'],
    // As on the stock server, in the singular.
    ['annotations', validateAnnotations, 'annotation'],
  ] as const) {
    const texts = given[name]
    if (texts === undefined || texts === null) {
      delete metadata[name]
      continue
    }
    if (!isObject(texts)) throw new Error(`invalid metadata.${name} of type ${goType(texts)} in converted object`)
    for (const [key, value] of Object.entries(texts)) {
      if (typeof value === 'string') continue
      throw new Error(`metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`)
    }
    if (!isDeepStrictEqual(texts, original.metadata[name])) {
      const errors = validate(texts as Record<string, string>, Path.of('metadata').child(place))
      if (errors.length > 0) throw new Error(formatFieldErrors(errors))
    }
    metadata[name] = texts
  }
  return metadata
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function goType(value: JsonValue): string {
  if (value === null) return '<nil>'
  if (Array.isArray(value)) return '[]interface {}'
  if (typeof value === 'object') return 'map[string]interface {}'
  if (typeof value === 'string') return 'string'
  return typeof value === 'boolean' ? 'bool' : Number.isInteger(Number(value)) ? 'int64' : 'float64'
}

/** `group/version, Kind=Kind`, as messages name the type of an object. */
export function groupVersionKind(apiVersion: JsonValue | undefined, kind: JsonValue | undefined): string {
  const { group: named, version } = parseApiVersion(textOf(apiVersion))
  return `${named}/${version}, Kind=${textOf(kind)}`
}
