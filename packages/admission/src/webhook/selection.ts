import { ApiError, type ApiObject, type DeepReadonly, type LabelSelector } from '@krmkit/meta'
import type { AdmissionAttributes, AdmissionContext, ObjectReader } from '../interfaces.ts'
import type { Hook } from './hook.ts'

/**
 * Which webhooks the selectors pick for one request that their rules cover.
 *
 * @see API protocol specification, 2.9
 */
export class Selection {
  readonly #attributes: AdmissionAttributes
  readonly #reader: ObjectReader
  /** Labels of the namespace, looked up once for all webhooks. */
  #labels: Labels | undefined

  constructor(attributes: AdmissionAttributes, { reader }: Pick<AdmissionContext, 'reader'>) {
    this.#attributes = attributes
    this.#reader = reader
  }

  /** @throws ApiError 404 when the labels of a missing namespace are asked for, 500 for a selector that cannot be read. */
  picks({ objectSelector, namespaceSelector }: Selectors, object: DeepReadonly<ApiObject> | undefined): boolean {
    if (objectSelector instanceof Error) throw ApiError.internalError(objectSelector.message)
    if (!objectSelector.empty && !matches(objectSelector, object) && !matches(objectSelector, this.#attributes.oldObject))
      return false
    if (namespaceSelector instanceof Error) throw ApiError.internalError(namespaceSelector.message)
    if (namespaceSelector.empty) return true
    const { subresource, operation, namespace } = this.#attributes
    const isNamespace = isNamespaceObject(this.#attributes)
    if (namespace === '' && !isNamespace) return true
    // A namespace that is being made or changed is judged by the labels that it will have.
    const own = isNamespace && subresource === '' && (operation === 'CREATE' || operation === 'UPDATE')
    return namespaceSelector.matches(own ? (object?.metadata.labels ?? {}) : this.#namespaceLabels())
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

/** Of one webhook or policy. @throws ApiError as `Selection.picks` */
export function isSelected(
  selectors: Selectors,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: Pick<AdmissionContext, 'reader'>,
): boolean {
  return new Selection(attributes, context).picks(selectors, object)
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

/** The namespace of a request: of a Namespace its own name. */
export function namespaceOf(attributes: Pick<AdmissionAttributes, 'resource' | 'namespace' | 'name'>): string {
  return isNamespaceObject(attributes) ? attributes.name : attributes.namespace
}
