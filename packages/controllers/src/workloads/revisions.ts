import { isLargeValue } from '@krmkit/base/work'
import { type ResourceType, resourceType } from '@krmkit/client'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { ignoreNotFound } from '../framework/api-errors.ts'
import { inSlices } from '../framework/in-slices.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import type { ControllerContext } from '../interfaces.ts'
import { canonicalText, sameCanonically, withSortedMembers } from './canonical-text.direct.ts'
import * as paced from './canonical-text.ts'
import { claim, controllerReference } from './claims.ts'
import { mergeMaps } from './merge-maps.ts'
import type { PodTemplate } from './objects.ts'
import { byController, orphansOf } from './owned-pods.ts'
import { shortHash } from './short-hash.ts'

/** The template of a stateful set or daemon set at an earlier time. */
export interface Revision extends ApiObject {
  revision?: number
  data?: { spec?: { template?: PodTemplate & { $patch?: string } } }
}

export type ReadonlyRevision = DeepReadonly<Revision>

export const revisions = resourceType<Revision>({
  group: 'apps',
  version: 'v1',
  resource: 'controllerrevisions',
  kind: 'ControllerRevision',
})

/**
 * Pod label with the revision that the pod was created from: the name of the revision for stateful sets, its hash for daemon
 * sets.
 */
export const revisionLabel = 'controller-revision-hash'

/** An owner of revisions. */
export interface RevisionOwner extends ApiObject {
  spec?: { template?: PodTemplate; [member: string]: unknown }
  status?: { collisionCount?: number; [member: string]: unknown }
}

/** Maintains the history of the templates of an owner as ControllerRevisions. */
export class RevisionHistory {
  readonly #context: ControllerContext
  readonly #resource: ResourceType
  readonly #index: ObjectIndex<Revision>
  readonly #hashLabel: string

  /** @param options.hashLabel label of revisions with the hash of their data */
  constructor(context: ControllerContext, resource: ResourceType, { hashLabel }: { readonly hashLabel: string }) {
    this.#context = context
    this.#hashLabel = hashLabel
    this.#resource = resource
    this.#index = context.informers.index(revisions, 'controller', byController)
  }

  async synced(): Promise<void> {
    const informer = this.#context.informers.of(revisions)
    if (!informer.hasSynced) await informer.synced
  }

  /** Returns the revisions of an owner, oldest first, after adoption and release. */
  async list(owner: DeepReadonly<RevisionOwner>, selector: LabelSelector): Promise<ReadonlyRevision[]> {
    const { uid = '', namespace } = owner.metadata
    const candidates = [...this.#index.get(uid), ...this.#index.get(orphansOf(namespace))]
    const options = { context: this.#context, ownerResource: this.#resource, resource: revisions, selector }
    return (await claim(owner, candidates, options)).sort(byRevision)
  }

  /**
   * Returns the revision of the current template, and the number of name collisions so far. Creates a revision for a new
   * template; an earlier revision with the same template gets the highest number instead.
   *
   * @param known the revisions of the owner, oldest first
   * @param completed fills in the template of the newest revision, where a template that differs only in what is filled in is not new.
   * Undefined: the template cannot be filled in.
   */
  async update(
    owner: DeepReadonly<RevisionOwner>,
    known: readonly ReadonlyRevision[],
    completed?: (newest: ReadonlyRevision) => Promise<DeepReadonly<PodTemplate> | undefined>,
  ): Promise<{ readonly revision: ReadonlyRevision; readonly collisionCount: number }> {
    const { client, fieldManager, signal } = this.#context
    const collisionCount = owner.status?.collisionCount ?? 0
    const data = await dataOf(owner)
    const newest = known.at(-1)
    const next = (newest?.revision ?? 0) + 1
    const equal = await lastWith(data, known)
    if (equal !== undefined && equal === newest) return { revision: newest, collisionCount }
    if (equal === undefined) {
      const template = newest === undefined ? undefined : await completed?.(newest)
      if (newest !== undefined && template !== undefined && (await sameData(await dataOf({ spec: { template } }), data)))
        return { revision: newest, collisionCount }
      return this.#create(owner, { data, number: next, collisions: collisionCount })
    }
    const raised = { ...(equal as Revision), revision: next }
    return { revision: await client.update(revisions, raised, { fieldManager, signal }), collisionCount }
  }

  async delete(some: readonly ReadonlyRevision[]): Promise<void> {
    const { client, signal } = this.#context
    for (const { metadata } of some)
      await ignoreNotFound(client.delete(revisions, metadata.name ?? '', { namespace: metadata.namespace ?? '', signal }))
  }

  async #create(
    owner: DeepReadonly<RevisionOwner>,
    { data, number, collisions }: { readonly data: RevisionData; readonly number: number; readonly collisions: number },
  ): Promise<{ readonly revision: ReadonlyRevision; readonly collisionCount: number }> {
    const { client, fieldManager, signal } = this.#context
    const { namespace = '' } = owner.metadata
    for (let collisionCount = collisions; ; collisionCount++) {
      const revision = await this.#build(owner, data, { number, collisionCount })
      try {
        return { revision: await client.create(revisions, revision, { fieldManager, signal }), collisionCount }
      } catch (error) {
        if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
        const other = await client.get(revisions, revision.metadata.name ?? '', { namespace, signal })
        const isOurs = controllerOf(other.metadata.ownerReferences)?.uid === owner.metadata.uid
        if (isOurs && (await sameData(other.data, data))) return { revision: other, collisionCount }
      }
    }
  }

  async #build(
    owner: DeepReadonly<RevisionOwner>,
    data: RevisionData,
    { number, collisionCount }: { readonly number: number; readonly collisionCount: number },
  ): Promise<Revision> {
    const { name = '', namespace = '', annotations } = owner.metadata
    const text = isLargeValue(data) ? await inSlices(paced.canonicalText(data)) : canonicalText(data)
    const hash = shortHash(text, collisionCount)
    return {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: {
        name: `${name.slice(0, 223)}-${hash}`,
        namespace,
        labels: await mergeMaps(owner.spec?.template?.metadata?.labels, { [this.#hashLabel]: hash }),
        ...(annotations === undefined ? {} : { annotations }),
        ownerReferences: [controllerReference(owner, this.#resource)],
      },
      revision: number,
      data,
    }
  }
}

/** Returns the template that a revision restores. */
export function templateOf({ data }: ReadonlyRevision): DeepReadonly<PodTemplate> {
  const { $patch: _, ...template } = data?.spec?.template ?? {}
  return template
}

type RevisionData = NonNullable<Revision['data']>

/** Returns the newest revision with the data. */
async function lastWith(data: RevisionData, known: readonly ReadonlyRevision[]): Promise<ReadonlyRevision | undefined> {
  for (const revision of known.toReversed()) if (await sameData(revision.data, data)) return revision
  return undefined
}

async function sameData(a: ReadonlyRevision['data'], b: RevisionData): Promise<boolean> {
  return isLargeValue(a) && isLargeValue(b) ? inSlices(paced.sameCanonically(a, b)) : sameCanonically(a, b)
}

async function dataOf({ spec }: Pick<DeepReadonly<RevisionOwner>, 'spec'>): Promise<RevisionData> {
  const given = (spec?.template ?? {}) as PodTemplate
  const template = isLargeValue(given) ? await inSlices(paced.withSortedMembers(given)) : withSortedMembers(given)
  // Servers and clients compare revisions as text, so the position matters: `$patch` sorts before all other members.
  return { spec: { template: { $patch: 'replace', ...template } } }
}

function byRevision(a: ReadonlyRevision, b: ReadonlyRevision): number {
  const [older, newer] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? '']
  return (
    (a.revision ?? 0) - (b.revision ?? 0) ||
    older.localeCompare(newer) ||
    (a.metadata.name ?? '').localeCompare(b.metadata.name ?? '')
  )
}
