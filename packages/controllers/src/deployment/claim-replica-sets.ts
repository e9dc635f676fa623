import { labelSelectorFromObject, type OwnerReference } from '@krmkit/meta'
import { controllerOf } from '@krmkit/meta/validation'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { ControllerContext } from '../interfaces.ts'
import { byAge, deployments, type ReadonlyDeployment, type ReadonlyReplicaSet, type ReplicaSet, replicaSets } from './objects.ts'

/**
 * Returns the replica sets of a deployment, oldest first. Adopts sets without a controller that the selector matches, and releases
 * owned sets that it no longer matches.
 */
export async function claimSets(
  deployment: ReadonlyDeployment,
  candidates: readonly ReadonlyReplicaSet[],
  context: ControllerContext,
): Promise<readonly ReadonlyReplicaSet[]> {
  const selector = labelSelectorFromObject(deployment.spec?.selector ?? {})
  const { uid } = deployment.metadata
  const sets: ReadonlyReplicaSet[] = []
  for (const set of candidates) {
    const owner = controllerOf(set.metadata.ownerReferences)
    const matches = selector.matches(set.metadata.labels ?? {})
    if (owner !== undefined && owner.uid !== uid) continue
    if (owner !== undefined && matches) sets.push(set)
    else if (owner !== undefined) await release(set, deployment, context)
    else if (matches && set.metadata.deletionTimestamp === undefined && deployment.metadata.deletionTimestamp === undefined) {
      const adopted = await adopt(set, deployment, context)
      if (adopted !== undefined) sets.push(adopted)
    }
  }
  return sets.sort(byAge)
}

async function adopt(
  set: ReadonlyReplicaSet,
  deployment: ReadonlyDeployment,
  context: ControllerContext,
): Promise<ReadonlyReplicaSet | undefined> {
  const { client, signal } = context
  const { name = '', namespace = '', uid = '' } = deployment.metadata
  // The informer may not know yet that the deployment was deleted or recreated.
  const live = await ignoreNotFound(client.get(deployments, name, { namespace, signal }))
  if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return undefined
  const owner: OwnerReference = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    name,
    uid,
    controller: true,
    blockOwnerDeletion: true,
  }
  return writeOwners(set, [...((set.metadata.ownerReferences ?? []) as OwnerReference[]), owner], context)
}

async function release(set: ReadonlyReplicaSet, deployment: ReadonlyDeployment, context: ControllerContext): Promise<void> {
  const others = ((set.metadata.ownerReferences ?? []) as OwnerReference[]).filter(({ uid }) => uid !== deployment.metadata.uid)
  await writeOwners(set, others, context)
}

function writeOwners(
  set: ReadonlyReplicaSet,
  ownerReferences: OwnerReference[],
  context: ControllerContext,
): Promise<ReadonlyReplicaSet | undefined> {
  const { client, fieldManager, signal } = context
  const changed = structuredClone(set) as ReplicaSet
  if (ownerReferences.length === 0) delete changed.metadata.ownerReferences
  else changed.metadata.ownerReferences = ownerReferences
  return ignoreNotFound(client.update(replicaSets, changed, { fieldManager, signal }))
}
