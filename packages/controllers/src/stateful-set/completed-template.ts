import { resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { ControllerContext } from '../interfaces.ts'
import type { PodTemplate } from '../workloads/objects.ts'
import { type ReadonlyRevision, templateOf } from '../workloads/revisions.ts'
import type { ReadonlyStatefulSet } from './objects.ts'

interface PodTemplateObject extends ApiObject {
  template?: PodTemplate
}

const podTemplates = resourceType<PodTemplateObject>({
  group: '',
  version: 'v1',
  resource: 'podtemplates',
  kind: 'PodTemplate',
})

/** Bounds the memory for revisions. */
const maxKnown = 10_000

/**
 * The templates of revisions with the defaults of the server. A later release fills in more than the one that wrote the revision; such a
 * difference must not replace all pods. Differs: kube-controller-manager has the defaults of the release it is built from, which may not
 * be that of the server.
 */
export class CompletedTemplates {
  readonly #context: ControllerContext
  /** By set, generation and version of the revision: every sync compares the same two while no pod template changes. */
  readonly #known = new Map<string, DeepReadonly<PodTemplate> | undefined>()

  constructor(context: ControllerContext) {
    this.#context = context
  }

  /** The template of a revision of the set with defaults; undefined where the server refuses it. */
  async of({ metadata }: ReadonlyStatefulSet, revision: ReadonlyRevision): Promise<DeepReadonly<PodTemplate> | undefined> {
    const { uid = '', generation = 0, namespace = '' } = metadata
    const key = `${uid} ${generation} ${revision.metadata.uid ?? ''} ${revision.metadata.resourceVersion ?? ''}`
    if (this.#known.has(key)) return this.#known.get(key)
    const completed = await this.#complete(namespace, revision)
    if (this.#known.size >= maxKnown) this.#known.clear()
    this.#known.set(key, completed)
    return completed
  }

  /** The server sets the defaults of a new PodTemplate and stores nothing. */
  async #complete(namespace: string, revision: ReadonlyRevision): Promise<DeepReadonly<PodTemplate> | undefined> {
    const { client, fieldManager, signal } = this.#context
    const object: PodTemplateObject = {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { generateName: 'revision-', namespace },
      template: templateOf(revision) as PodTemplate,
    }
    try {
      return (await client.create(podTemplates, object, { dryRun: true, fieldManager, signal })).template
    } catch (error) {
      if (ApiError.is(error)) return undefined
      throw error
    }
  }
}
