import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { leaderElectionController, leaseCandidateCleaner } from '../leader-election/election-controller.ts'
import { ensureTrackingStart } from '../service-account-tokens/legacy-cleaner.ts'
import { flowControl } from './flow-control.ts'
import type { ServerFacts } from './interfaces.ts'
import { serverIdentity } from './server-identity.ts'
import { serverService } from './server-service.ts'
import { serviceIPAddresses } from './service-ip-addresses.ts'
import { serviceRanges } from './service-ranges.ts'

/**
 * Returns the controllers of the server itself, which run independently of the selected ones: API service and endpoints, identity
 * Lease, service CIDRs and addresses, flow schemas and priority levels, start of token tracking, leader election. Run them with the user of the server.
 *
 * @example
 * import { createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { runControllers, serverControllers } from '@krmkit/controllers'
 * const client = createRemoteClient(await loadKubeconfig())
 * const available = serverControllers({
 *   name: 'apiserver-1',
 *   holder: 'apiserver-1_4f2a',
 *   hostname: 'server',
 *   address: '192.0.2.10',
 *   port: 6443,
 *   serviceRanges: ['10.0.0.0/24'],
 *   serviceAddress: '10.0.0.1',
 * })
 * await using running = runControllers({ client, available })
 */
export function serverControllers(facts: ServerFacts): readonly Controller[] {
  const elections = facts.electsLeaders === true ? [leaderElectionController, leaseCandidateCleaner] : []
  const objects = [serverIdentity(facts), serverService(facts), serviceRanges(facts), serviceIPAddresses]
  return [...objects, flowControl, tokenTracking, ...elections]
}

const tokenTracking: Controller = {
  name: 'legacy-token-tracking',
  start(context) {
    const work = context.queue<'note'>({
      async sync() {
        await ensureTrackingStart(context)
        return undefined
      },
    })
    work.add('note')
    return disposeSubscriptions([])
  },
}
