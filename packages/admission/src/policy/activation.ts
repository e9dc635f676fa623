import type { Authorizer } from '@krmkit/authorization'
import type { WorkBudget } from '@krmkit/cel'
import type { Value } from '@krmkit/cel/values'
import type { ApiObject, DeepReadonly, JsonObject } from '@krmkit/meta'
import { cel } from '@krmkit/schema'
import type { AdmissionAttributes } from '../interfaces.ts'
import { celAuthorizer } from './cel-authorizer.ts'

/** The input of the expressions of one policy or webhook. */
export interface ActivationInput {
  readonly attributes: AdmissionAttributes
  /** In the matched version; null when absent. */
  readonly object: DeepReadonly<ApiObject> | null
  readonly oldObject: DeepReadonly<ApiObject> | null
  /** The AdmissionRequest without its objects. */
  readonly request: DeepReadonly<JsonObject>
  /** Absent: `namespaceObject` is null. */
  readonly namespace?: DeepReadonly<ApiObject> | undefined
}

export type Variables = Readonly<Record<string, Value | undefined>>

/** The CEL variables of one request. */
export class Activation {
  readonly work: WorkBudget
  /** `CREATE`, `UPDATE`, `DELETE` or `CONNECT`. */
  readonly operation: string
  readonly #plain: Variables
  readonly #withAuthorizer: Variables

  constructor(input: ActivationInput, authorizer: Authorizer) {
    const { engine } = cel()
    const { attributes } = input
    this.work = engine.createWorkBudget()
    this.operation = attributes.operation
    this.#plain = {
      object: engine.fromJson(input.object),
      oldObject: engine.fromJson(input.oldObject),
      request: engine.fromJson(input.request),
      namespaceObject: engine.fromJson(input.namespace ?? null),
    }
    const authorizerValue = engine.authorizerValue(celAuthorizer(attributes.user, authorizer))
    const { group, resource } = attributes.resource
    const { subresource, namespace, name } = attributes
    this.#withAuthorizer = {
      ...this.#plain,
      authorizer: authorizerValue,
      'authorizer.requestResource': engine.requestResourceValue(authorizerValue, {
        group,
        resource,
        subresource,
        namespace,
        name,
      }),
    }
  }

  /** The variables with the parameters of a binding; null when it has none. */
  variables(params: DeepReadonly<ApiObject> | null, { authorizer }: { readonly authorizer: boolean }): Variables {
    return { ...(authorizer ? this.#withAuthorizer : this.#plain), params: cel().engine.fromJson(params) }
  }
}
