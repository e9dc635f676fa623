import { ApiError, type ApiObject, type DeepReadonly, nameRules, type OwnerReference } from '@krmkit/meta'
import { errorText, type ObjectEvents } from '../events/object-events.ts'
import type { ControllerContext } from '../interfaces.ts'
import { mergeMaps } from './merge-maps.ts'
import { type Pod, type PodTemplate, pods, type ReadonlyPod } from './objects.ts'

/** Creation and deletion of pods by their controllers. */

export interface PodFromTemplateOptions {
  readonly namespace: string
  /** Labels in addition to those of the template. */
  readonly labels?: Readonly<Record<string, string>>
  /** Annotations in addition to those of the template. */
  readonly annotations?: Readonly<Record<string, string>>
}

/**
 * Builds the pod of a template, with a generated name that begins with the name of its owner. The pod shares parts with the
 * template; do not mutate it.
 */
export async function podFromTemplate(
  template: DeepReadonly<PodTemplate>,
  owner: OwnerReference,
  { namespace, labels: addedLabels, annotations: addedAnnotations }: PodFromTemplateOptions,
): Promise<Pod> {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  const hasAnnotations = annotations !== undefined || addedAnnotations !== undefined
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: generatedPrefix(owner.name),
      namespace,
      labels: await mergeMaps(labels, addedLabels),
      ...(hasAnnotations ? { annotations: await mergeMaps(annotations, addedAnnotations) } : {}),
      ...(finalizers === undefined ? {} : { finalizers: [...finalizers] }),
      ownerReferences: [owner],
    },
    spec: (template.spec ?? {}) as NonNullable<PodTemplate['spec']>,
  }
}

/** Returns the name with a dash when that is a valid prefix of pod names, otherwise the name. */
function generatedPrefix(name: string): string {
  const prefix = `${name}-`
  return nameRules.dns1123Subdomain(prefix, true).length === 0 ? prefix : name
}

/** Creates a pod. */
export async function createPod(pod: Pod, { client, fieldManager, signal }: ControllerContext): Promise<Pod> {
  return client.create(pods, pod, { fieldManager, signal })
}

/** Deletes a pod. @throws ApiError also when the pod does not exist */
export async function deletePod(pod: ReadonlyPod, { client, signal }: ControllerContext): Promise<void> {
  const { name = '', namespace = '', uid } = pod.metadata
  const preconditions = uid === undefined ? {} : { preconditions: { uid } }
  await client.delete(pods, name, { namespace, signal, ...preconditions })
}

/** Creates and deletes the pods of owners of one kind, with events of the owners. */
export class PodControl<O extends ApiObject> {
  readonly #context: ControllerContext
  readonly #events: ObjectEvents<O>

  constructor(context: ControllerContext, events: ObjectEvents<O>) {
    this.#context = context
    this.#events = events
  }

  /** Creates a pod of an owner. */
  async create(owner: DeepReadonly<O>, pod: Pod): Promise<void> {
    try {
      const created = await createPod(pod, this.#context)
      this.#events.normal(owner, 'SuccessfulCreate', `Created pod: ${created.metadata.name}`)
    } catch (error) {
      if (!isNamespaceTerminating(error)) this.#events.warning(owner, 'FailedCreate', `Error creating: ${errorText(error)}`)
      throw error
    }
  }

  /** Deletes a pod of an owner. @throws ApiError also when the pod does not exist */
  async delete(owner: DeepReadonly<O>, pod: ReadonlyPod): Promise<void> {
    try {
      await deletePod(pod, this.#context)
    } catch (error) {
      if (!isNotFound(error)) this.#events.warning(owner, 'FailedDelete', `Error deleting: ${errorText(error)}`)
      throw error
    }
    this.#events.normal(owner, 'SuccessfulDelete', `Deleted pod: ${pod.metadata.name}`)
  }
}

/** Whether a request failed because its namespace is terminating: nothing can be created in it any more. */
export function isNamespaceTerminating(error: unknown): boolean {
  if (!ApiError.is(error)) return false
  return error.status.details?.causes?.some((cause) => (cause.reason as string) === 'NamespaceTerminating') ?? false
}

/** Whether a request failed because its object does not exist. */
export function isNotFound(error: unknown): boolean {
  return ApiError.is(error) && error.reason === 'NotFound'
}
