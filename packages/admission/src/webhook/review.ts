import { isLargeValue, runInLaterTurns, type Turns } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly, GroupVersionKind, GroupVersionResource, JsonObject, NamingProfile } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import * as paced from '@krmkit/schema/paced'
import type { AdmissionAttributes, ObjectVersion } from '../interfaces.ts'
import { namespaceOf } from './selector-matcher.ts'

/** Supported versions of AdmissionReview. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** The first supported version of the list. */
export function chooseReviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  for (const version of versions) if (version === 'v1' || version === 'v1beta1') return version
  return undefined
}

/**
 * The members of an AdmissionRequest without `uid` and the objects, in kube-apiserver's order.
 *
 * @see API protocol specification, 2.8
 */
export function requestMembers(attributes: AdmissionAttributes, version: ObjectVersion, profile: NamingProfile): RequestMembers {
  const { subresource, operation, user, dryRun } = attributes
  const name = nameOf(attributes)
  const namespace = namespaceOf(attributes)
  const { username, uid = '', groups, extra } = user
  return {
    before: {
      kind: kindOf(version.kind),
      resource: resourceOf(version.resource),
      ...(subresource === '' ? {} : { subResource: subresource }),
      requestKind: kindOf(attributes.kind),
      requestResource: resourceOf(attributes.resource),
      ...(subresource === '' ? {} : { requestSubResource: subresource }),
      ...(name === '' ? {} : { name }),
      ...(namespace === '' ? {} : { namespace }),
      operation,
      userInfo: {
        ...(username === '' ? {} : { username }),
        ...(uid === '' ? {} : { uid }),
        ...(groups.length === 0 ? {} : { groups: [...groups] }),
        ...(extra === undefined || Object.keys(extra).length === 0 ? {} : { extra: extraOf(extra) }),
      },
    },
    after: { dryRun, options: optionsOf(attributes, profile) },
  }
}

/**
 * The name of the object. The request of a deletecollection has none: each call is about one of its objects.
 *
 * Differs: kube-apiserver omits the name of objects that a deletecollection deletes.
 */
function nameOf({ name, operation, oldObject }: AdmissionAttributes): string {
  return name === '' && operation === 'DELETE' ? (oldObject?.metadata.name ?? '') : name
}

/** The members before and after the objects. */
export interface RequestMembers {
  readonly before: JsonObject
  readonly after: JsonObject
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
}

/** The options of the verb as an object; null for CONNECT, which has none. */
export function optionsOf({ operation, options = {} }: AdmissionAttributes, { apiDomain }: NamingProfile): JsonObject | null {
  const kind = Object.hasOwn(optionKinds, operation) ? optionKinds[operation] : undefined
  if (kind === undefined) return null
  const { kind: _kind, apiVersion: _version, ...rest } = options as JsonObject
  return { kind, apiVersion: `meta.${apiDomain}/v1`, ...rest }
}

function kindOf({ group, version, kind }: GroupVersionKind): JsonObject {
  return { group, version, kind }
}

function resourceOf({ group, version, resource }: GroupVersionResource): JsonObject {
  return { group, version, resource }
}

function extraOf(extra: Readonly<Record<string, readonly string[]>>): JsonObject {
  return Object.fromEntries(Object.entries(extra).map(([key, values]) => [key, [...values]]))
}

/** Caches the JSON of objects, so that each is encoded once for all webhooks; large ones are encoded in slices. */
export class ObjectJsonCache {
  readonly #texts = new WeakMap<object, string | Promise<string>>()
  readonly #turns: Turns

  constructor(turns: Turns) {
    this.#turns = turns
  }

  of(object: DeepReadonly<ApiObject> | null): string | Promise<string> {
    if (object === null) return 'null'
    let text = this.#texts.get(object)
    if (text === undefined) {
      text = isLargeValue(object) ? runInLaterTurns(paced.stringifyJson(object), this.#turns) : stringifyJson(object)
      this.#texts.set(object, text)
    }
    return text
  }
}

/** Encodes an AdmissionReview from encoded objects. */
export function encodeReview(
  apiVersion: string,
  uid: string,
  { before, after }: RequestMembers,
  { object, oldObject }: { readonly object: string; readonly oldObject: string },
): string {
  const head = stringifyJson({ uid, ...before })
  const tail = stringifyJson(after)
  return `{"kind":"AdmissionReview","apiVersion":${JSON.stringify(apiVersion)},"request":${head.slice(0, -1)},"object":${object},"oldObject":${oldObject},${tail.slice(1)}}`
}
