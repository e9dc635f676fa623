import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import type { AdmissionAttributes, AdmissionContext, ObjectReader } from '../interfaces.ts'
import type { Hook } from './hook.ts'

/**
 * Matches the object and namespace selectors of webhooks and policies for one request.
 *
 * @see API protocol specification, 2.9
 */
export class SelectorMatcher {
  readonly #attributes: AdmissionAttributes
  readonly #reader: ObjectReader
  /** Labels of the namespace, looked up once for all selectors. */
  #labels: Labels | undefined

  constructor(attributes: AdmissionAttributes, { reader }: Pick<AdmissionContext, 'reader'>) {
    this.#attributes = attributes
    this.#reader = reader
  }

  /** @throws ApiError 404 when the namespace is missing, 500 for an invalid selector. */
  matches({ objectSelector, namespaceSelector }: Selectors, object: DeepReadonly<ApiObject> | undefined): boolean {
    if (objectSelector instanceof Error) throw ApiError.internalError(objectSelector.message)
    if (!objectSelector.empty && !matches(objectSelector, object) && !matches(objectSelector, this.#attributes.oldObject))
      return false
    if (namespaceSelector instanceof Error) throw ApiError.internalError(namespaceSelector.message)
    if (namespaceSelector.empty) return true
    const { subresource, operation, namespace } = this.#attributes
    const isNamespace = isNamespaceObject(this.#attributes)
    if (namespace === '' && !isNamespace) return true
    // A namespace that is created or updated is matched by its new labels.
    const useNewLabels = isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
    return namespaceSelector.matches(useNewLabels ? (object?.metadata.labels ?? {}) : this.#namespaceLabels())
  }

  #namespaceLabels(): Labels {
    if (this.#labels === undefined) {
      const namespaces = { group: '', resource: 'namespaces' }
      const name = namespaceOf(this.#attributes)
      const found = this.#reader.get(namespaces, '', name)
      if (found === undefined) throw ApiError.notFound(namespaces, name)
      this.#labels = found.metadata.labels ?? {}
    }
    return this.#labels
  }
}

/** Matches the selectors of one webhook or policy. @throws ApiError as `SelectorMatcher.matches`. */
export function matchesSelectors(
  selectors: Selectors,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: Pick<AdmissionContext, 'reader'>,
): boolean {
  return new SelectorMatcher(attributes, context).matches(selectors, object)
}

type Selectors = Pick<Hook, 'objectSelector' | 'namespaceSelector'>
type Labels = Readonly<Record<string, string>>

function matches(selector: LabelSelector, object: DeepReadonly<ApiObject> | undefined): boolean {
  return object?.metadata !== undefined && selector.matches(object.metadata.labels ?? {})
}

/** Whether the request is about a Namespace itself. */
function isNamespaceObject({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean {
  return resource.group === '' && resource.resource === 'namespaces'
}

/** The namespace of a request; for a Namespace its own name. */
export function namespaceOf(attributes: Pick<AdmissionAttributes, 'resource' | 'namespace' | 'name'>): string {
  return isNamespaceObject(attributes) ? attributes.name : attributes.namespace
}
