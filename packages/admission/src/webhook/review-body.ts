import { runAtOnce, type Work } from '@krmkit/base/work'
import { isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'
import { goQuote } from '@krmkit/meta/go-text'
import { DecodeError, parseYaml } from '@krmkit/schema'
import { parseJson } from '@krmkit/schema/paced'
import { jsonKind, mismatch } from './go-json.ts'
import { statusOf } from './response-status.ts'
import { WebhookError } from './webhook-error.ts'

/**
 * Reads the body of a webhook's response as Go's REST client of kube-apiserver does: JSON or YAML, whatever the content type, of a kind that
 * the client knows.
 */

/** The review that a webhook answers, and the kinds that its client decodes. */
export interface ReviewScheme {
  /** `admission.k8s.io` */
  readonly group: string
  /** The version of the review that was sent. */
  readonly version: string
  /** `AdmissionReview` */
  readonly kind: string
  /** Versions of the group. */
  readonly versions: readonly string[]
  /** Further kinds of the group. */
  readonly otherKinds?: readonly string[]
  /** Maximum depth of JSON. */
  readonly maxDepth?: number
}

/** Kinds that every group has. */
const groupKinds = ['WatchEvent', 'ListOptions', 'GetOptions', 'DeleteOptions', 'CreateOptions', 'UpdateOptions', 'PatchOptions']
const coreKinds = ['Status', 'APIVersions', 'APIGroup', 'APIGroupList', 'APIResourceList']

/** YAML above this size is not read: its parser works in one step. */
const maxYamlBytes = 128 * 1024

/**
 * The members of a review of the sent version; empty for `null`.
 *
 * Differs: YAML of more than 128 KiB is refused, because it is parsed in one step.
 *
 * @throws WebhookError `Unreadable` for an unparsable body, another kind, or another version.
 */
export function* readReviewBody(bytes: Uint8Array, scheme: ReviewScheme): Work<JsonObject> {
  const value = yield* parse(bytes, scheme)
  if (value === null) return {}
  if (!isJsonObject(value)) throw typeMetaMismatch(value)
  checkKind(value, scheme)
  return value
}

/** The message of a failed response whose body is a Status, which may lack kind and apiVersion; undefined for other bodies. */
export function failureMessageOf(bytes: Uint8Array): string | undefined {
  if (bytes.byteLength === 0 || bytes.byteLength > maxYamlBytes) return undefined
  try {
    const value = runAtOnce(parse(bytes, {}))
    if (!isJsonObject(value)) return undefined
    const kind = typeMember(value, 'kind') || 'Status'
    const apiVersion = typeMember(value, 'apiVersion') || 'v1'
    const { status, message = '' } = statusOf({ body: value }, 'Response', 'body') ?? {}
    const isKnown = kind === 'Status' && (apiVersion === 'v1' || apiVersion === 'meta.k8s.io/v1')
    return isKnown && status === 'Failure' ? message : undefined
  } catch (error) {
    if (error instanceof WebhookError) return undefined
    throw error
  }
}

const typeMeta = 'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }'

/** The error of a value that is no object, which has no kind. */
export function typeMetaMismatch(value: JsonValue): WebhookError {
  return unparsable(`json: cannot unmarshal ${jsonKind(value)} into Go value of type ${typeMeta}`)
}

/** Whether a kind is one of the options and lists that every group has, or one of those of `v1` alone. */
export function isKindOfEveryGroup(apiVersion: string, kind: string): boolean {
  return groupKinds.includes(kind) || (apiVersion === 'v1' && coreKinds.includes(kind))
}

function checkKind(value: JsonObject, { group, version, kind, versions, otherKinds = [] }: ReviewScheme): void {
  const wanted = `${group}/${version}`
  const given = typeMember(value, 'kind') || kind
  const apiVersion = typeMember(value, 'apiVersion') || wanted
  const slash = apiVersion.lastIndexOf('/')
  if (apiVersion.indexOf('/') !== slash) throw unreadable(`unexpected GroupVersion string: ${apiVersion}`)
  const itsVersion = apiVersion.slice(slash + 1)
  if (given === kind && apiVersion === wanted) return
  const isOfGroup = slash >= 0 && apiVersion.slice(0, slash) === group && versions.includes(itsVersion)
  const typePackage =
    isOfGroup && [kind, ...otherKinds].includes(given)
      ? itsVersion
      : (isOfGroup && groupKinds.includes(given)) || (apiVersion === 'v1' && coreKinds.includes(given))
        ? 'v1'
        : undefined
  if (typePackage === undefined) {
    const what = `no kind ${goQuote(given)} is registered for version ${goQuote(apiVersion)}`
    throw unreadable(`${what} in scheme "pkg/runtime/scheme.go:110"`)
  }
  throw unreadable(`converting (${typePackage}.${given}) to (${version}.${kind}): unknown conversion`)
}

/** `kind` or `apiVersion`; empty when absent. @throws WebhookError for a value that is no text */
export function typeMember(value: JsonObject, name: 'kind' | 'apiVersion'): string {
  const given = Object.hasOwn(value, name) ? (value[name] ?? '') : ''
  if (typeof given === 'string') return given
  throw unparsable(mismatch(given, `.${name}`, 'string').message)
}

type Bounds = Pick<ReviewScheme, 'maxDepth'>

function* parse(bytes: Uint8Array, { maxDepth }: Bounds): Work<JsonValue> {
  try {
    return (yield* parseJson(bytes, maxDepth === undefined ? {} : { maxDepth })).value as JsonValue
  } catch (error) {
    return parseOther(bytes, error)
  }
}

/** Parses a body that is not JSON as YAML. A body that starts like JSON gets the JSON error. */
function parseOther(bytes: Uint8Array, error: unknown): JsonValue {
  if (!(error instanceof DecodeError)) throw error
  if (/^\s*[{[]/.test(new TextDecoder().decode(bytes.subarray(0, 64)))) throw unparsable(error.message)
  if (bytes.byteLength > maxYamlBytes) throw unparsable(error.message)
  try {
    return parseYaml(bytes).value as JsonValue
  } catch (error) {
    throw error instanceof DecodeError ? unreadable(error.message.replace(/^error converting YAML to JSON: /, '')) : error
  }
}

function unparsable(reason: string): WebhookError {
  return unreadable(`couldn't get version/kind; json parse error: ${reason}`)
}

function unreadable(message: string): WebhookError {
  return new WebhookError({ code: 'Unreadable', message })
}
