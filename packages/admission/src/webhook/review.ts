import type { ApiObject, DeepReadonly, GroupVersionKind, GroupVersionResource, JsonObject, NamingProfile } from '@krmkit/meta'
import { stringifyJson } from '@krmkit/schema'
import type { AdmissionAttributes, ObjectVersion } from '../interfaces.ts'
import { namespaceOf } from './selection.ts'

/** Versions of AdmissionReview that we speak. */
export type ReviewVersion = 'v1' | 'v1beta1'

/** The first version of the list that we speak. */
export function reviewVersion(versions: readonly string[]): ReviewVersion | undefined {
  for (const version of versions) if (version === 'v1' || version === 'v1beta1') return version
  return undefined
}

/** The objects of a request in the form that a webhook wants. */
export interface ShownObjects {
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
}

/**
 * The members of an AdmissionRequest but `uid` and the objects, in the order in which the stock server prints them.
 *
 * @see API protocol specification, 2.8
 */
export function requestFacts(attributes: AdmissionAttributes, form: ObjectVersion, profile: NamingProfile): RequestFacts {
  const { subresource, name, operation, user, dryRun } = attributes
  const namespace = namespaceOf(attributes)
  const { username, uid = '', groups, extra } = user
  return {
    before: {
      kind: kindOf(form.kind),
      resource: resourceOf(form.resource),
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

/** What stands before and after the objects. */
export interface RequestFacts {
  readonly before: JsonObject
  readonly after: JsonObject
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
}

/** The options of the verb as an object; null for connections, which have none. */
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

/** Objects as JSON text, made once however many webhooks are shown them. */
export class ObjectTexts {
  readonly #texts = new WeakMap<object, string>()

  of(object: DeepReadonly<ApiObject> | null): string {
    if (object === null) return 'null'
    let text = this.#texts.get(object)
    if (text === undefined) {
      text = stringifyJson(object)
      this.#texts.set(object, text)
    }
    return text
  }
}

/** The text of a review. */
export function reviewText(
  apiVersion: string,
  uid: string,
  { before, after }: RequestFacts,
  { object, oldObject }: { readonly object: string; readonly oldObject: string },
): string {
  const head = stringifyJson({ uid, ...before })
  const tail = stringifyJson(after)
  return `{"kind":"AdmissionReview","apiVersion":${JSON.stringify(apiVersion)},"request":${head.slice(0, -1)},"object":${object},"oldObject":${oldObject},${tail.slice(1)}}`
}
