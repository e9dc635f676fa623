import type { Authorizer } from '@krmkit/authorization'
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { cel } from '@krmkit/schema'
import type { Value, WorkBudget } from '@krmkit/schema/cel'
import type { AdmissionAttributes } from '../interfaces.ts'
import { askFor } from './cel-authorizer.ts'

/** What the expressions of one policy or webhook are evaluated against. */
export interface SubjectInput {
  readonly attributes: AdmissionAttributes
  /** In the version that was asked for; null where there is none. */
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
  /** The AdmissionRequest without its objects. */
  readonly request: DeepReadonly<JsonObject>
  /** Absent: `namespaceObject` is null. */
  readonly namespace?: DeepReadonly<ApiObject> | undefined
}

export type Variables = Readonly<Record<string, Value | undefined>>

/** The variables of one request, made when they are first needed. */
export class Activation {
  readonly work: WorkBudget
  readonly #plain: Variables
  readonly #withRights: Variables

  constructor(input: SubjectInput, authorizer: Authorizer) {
    const { engine } = cel()
    const { attributes } = input
    this.work = engine.createWorkBudget()
    this.#plain = {
      object: engine.fromJson(input.object),
      oldObject: engine.fromJson(input.oldObject),
      request: engine.fromJson(input.request),
      namespaceObject: engine.fromJson(input.namespace ?? null),
    }
    const rights = engine.authorizerValue(askFor(attributes.user, authorizer))
    const { group, resource } = attributes.resource
    const { subresource, namespace, name } = attributes
    this.#withRights = {
      ...this.#plain,
      authorizer: rights,
      'authorizer.requestResource': engine.requestResourceValue(rights, { group, resource, subresource, namespace, name }),
    }
  }

  /** With the parameters of a binding; null: it has none. */
  variables(params: DeepReadonly<ApiObject> | null, { authorizer }: { readonly authorizer: boolean }): Variables {
    return { ...(authorizer ? this.#withRights : this.#plain), params: cel().engine.fromJson(params) }
  }
}
