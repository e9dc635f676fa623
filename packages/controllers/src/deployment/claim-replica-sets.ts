import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { ControllerContext } from '../interfaces.ts'
import { claim } from '../workloads/claims.ts'
import { byAge, deployments, type ReadonlyDeployment, type ReadonlyReplicaSet, replicaSets } from './objects.ts'

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
  const sets = await claim(deployment, candidates, { context, ownerResource: deployments, resource: replicaSets, selector })
  return sets.sort(byAge)
}
