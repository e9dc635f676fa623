import { jsonKind, readConversionReview } from '@krmkit/admission/webhooks'
import { memberNames, type Work } from '@krmkit/base/work'
import {
  type ApiObject,
  type DeepReadonly,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  Path,
  parseApiVersion,
} from '@krmkit/meta'
import { formatGroupVersionKind } from '@krmkit/meta/api-version'
import { validateAnnotations, validateLabels } from '@krmkit/meta/paced'
import { formatFieldErrors } from '@krmkit/meta/validation'
import { stringifyJson } from '@krmkit/schema/paced'

/**
 * Encodes `ConversionReview` requests and validates their responses, in versions `v1` and `v1beta1`.
 *
 * @see kube-apiserver, `apiextensions-apiserver/pkg/apiserver/conversion`
 */

const group = 'apiextensions.k8s.io'
const supportedVersions = ['v1', 'v1beta1'] as const

export type ReviewVersion = (typeof supportedVersions)[number]

/** The first supported version of a list. */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  return versions.find((version): version is ReviewVersion => version === 'v1' || version === 'v1beta1')
}

export interface ReviewRequest {
  readonly uid: string
  readonly version: ReviewVersion
  readonly desiredAPIVersion: string
  readonly objects: readonly DeepReadonly<ApiObject>[]
}

/** Encodes a review as JSON. */
export function formatReview({ uid, version, desiredAPIVersion, objects }: ReviewRequest): Work<string> {
  return stringifyJson({
    kind: 'ConversionReview',
    apiVersion: `${group}/${version}`,
    request: { uid, desiredAPIVersion, objects },
  })
}

/** Maximum depth of a response: the maximum depth of an object plus the levels of review, response and list. */
const maxDepth = 1000 + 3

/** Reads the converted objects of a response. @throws Error with the message of kube-apiserver. */
export function* readConvertedObjects(
  bytes: Uint8Array,
  { uid, version }: Pick<ReviewRequest, 'uid' | 'version'>,
): Work<readonly JsonValue[]> {
  const otherKinds = ['CustomResourceDefinition', 'CustomResourceDefinitionList']
  const scheme = { group, version, kind: 'ConversionReview', versions: supportedVersions, otherKinds, maxDepth }
  const { kind, apiVersion, response } = yield* readConversionReview(bytes, scheme)
  // In v1beta1, kind, apiVersion and uid of the response are optional.
  if (version === 'v1' && (kind !== 'ConversionReview' || apiVersion !== `${group}/v1`)) {
    throw new Error(`expected webhook response of ${group}/v1, Kind=ConversionReview, got ${groupVersionKind(apiVersion, kind)}`)
  }
  if (response === undefined) throw new Error('no response provided')
  if (version === 'v1' && response.uid !== uid) {
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(response.uid)}`)
  }
  const { status = '', message = '' } = response.result ?? {}
  if (status !== 'Success') throw new Error(message === '' ? `response.result.status was '${status}', not 'Success'` : message)
  return response.convertedObjects
}

/** A failure that is reported without the name of the webhook. */
export class UnprefixedError extends Error {}

/** The original object. Field management also converts partial objects, which may lack metadata. */
type OriginalObject = Omit<DeepReadonly<ApiObject>, 'metadata'> & Partial<Pick<DeepReadonly<ApiObject>, 'metadata'>>

export interface ExpectedObject {
  readonly original: OriginalObject
  readonly apiVersion: string
  /** Index within a list, for error messages. Undefined for a single object. */
  readonly index?: number
}

/**
 * Restores the metadata of the original object, except for labels and annotations, which the webhook may change.
 *
 * @throws Error when the converted object is another object, or has another kind or version.
 */
export function* restoreObject(converted: JsonValue, { original, apiVersion, index }: ExpectedObject): Work<ApiObject> {
  const subject = index === undefined ? 'object at index 0' : `converted object at index ${index}`
  const where = index === undefined ? '' : ` at index ${index}`
  const undecodable = yield* decodeProblem(converted)
  if (undecodable !== undefined)
    throw index === undefined ? new UnprefixedError(undecodable) : new Error(`returned invalid ${subject}: ${undecodable}`)
  if (!isJsonObject(converted)) throw new Error(`returned invalid ${subject}`)
  if (converted.apiVersion !== apiVersion) {
    const got = textOf(converted.apiVersion)
    throw new Error(`returned invalid ${subject}: invalid groupVersion (expected ${apiVersion}, received ${got})`)
  }
  if (converted.kind !== original.kind) {
    throw new Error(`returned invalid ${subject}: invalid kind (expected ${original.kind}, received ${textOf(converted.kind)})`)
  }
  const mismatch = validateIdentity(converted, original)
  const what = index === undefined ? 'object' : 'converted object'
  if (mismatch !== undefined) throw new Error(`returned invalid ${what}${where}: ${mismatch}`)
  try {
    return { ...converted, metadata: yield* restoreMetadata(converted, original) } as unknown as ApiObject
  } catch (error) {
    const inObject = index === undefined ? '' : ` in object at index ${index}`
    throw new Error(`returned invalid metadata${inObject}: ${(error as Error).message}`)
  }
}

/** @returns why a value cannot be decoded as an object; undefined when it can. */
function* decodeProblem(value: JsonValue): Work<string | undefined> {
  if (value === null) return 'unexpected end of JSON input'
  if (!isJsonObject(value)) return `json: cannot unmarshal ${jsonKind(value)} into Go value of type map[string]interface {}`
  const hasType = textOf(value.kind) !== '' && textOf(value.apiVersion).split('/').length <= 2
  return hasType ? undefined : `Object 'Kind' is missing in '${yield* stringifyJson(value)}'`
}

/** @returns the mismatch of name, namespace or uid; undefined when there is none. */
function validateIdentity(converted: JsonObject, original: OriginalObject): string | undefined {
  const metadata = isJsonObject(converted.metadata) ? converted.metadata : {}
  for (const [member, name] of [
    ['name', 'name'],
    ['namespace', 'namespace'],
    ['uid', 'UID'],
  ] as const) {
    const before = original.metadata?.[member] ?? ''
    const after = textOf(metadata[member])
    if (before !== after) return `must have the same ${name}: ${before} != ${after}`
  }
  return undefined
}

function* restoreMetadata(converted: JsonObject, original: OriginalObject): Work<JsonObject> {
  const given = converted.metadata
  if (given === undefined) throw new Error('missing metadata in converted object')
  if (!isJsonObject(given)) throw new Error(`invalid metadata of type ${goType(given)} in converted object`)
  const metadata: JsonObject = { ...(original.metadata as unknown as JsonObject) }
  for (const [name, validate, field] of [
    ['labels', validateLabels, 'labels'],
    // kube-apiserver uses the singular in this path.
    ['annotations', validateAnnotations, 'annotation'],
  ] as const) {
    const texts = given[name]
    if (texts === undefined || texts === null) {
      delete metadata[name]
      continue
    }
    if (!isJsonObject(texts)) throw new Error(`invalid metadata.${name} of type ${goType(texts)} in converted object`)
    const keys = memberNames(texts)
    const before = original.metadata?.[name] ?? {}
    let same = keys.length === memberNames(before).length
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      const value = texts[key] as JsonValue
      if (typeof value !== 'string')
        throw new Error(`metadata.${name}[${key}] must be a string, but is ${goType(value)} in converted object`)
      same &&= Object.hasOwn(before, key) && before[key] === value
      if (i % textsPerStep === 0) yield
    }
    if (!same) {
      const errors = yield* validate(texts as Record<string, string>, Path.of('metadata').child(field))
      if (errors.length > 0) throw new Error(formatFieldErrors(errors))
    }
    metadata[name] = texts
  }
  return metadata
}

/** Number of labels and annotations compared between two yields. */
const textsPerStep = 128

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

/** `group/version, Kind=Kind`, for error messages. */
export function groupVersionKind(apiVersion: JsonValue | undefined, kind: JsonValue | undefined): string {
  return formatGroupVersionKind({ ...parseApiVersion(textOf(apiVersion)), kind: textOf(kind) })
}
