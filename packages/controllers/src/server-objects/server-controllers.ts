import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { leaderElectionController, leaseCandidateCleaner } from '../leader-election/election-controller.ts'
import { leaderElection } from '../leader-election/leader-election.ts'
import { ensureTrackingStart } from '../service-account-tokens/legacy-cleaner.ts'
import { allocationRepair } from './allocation-repair.ts'
import { flowControl } from './flow-control.ts'
import type { ServerFacts } from './interfaces.ts'
import { serverIdentity } from './server-identity.ts'
import { serverService } from './server-service.ts'
import { serviceIPAddresses } from './service-ip-addresses.ts'
import { serviceRanges } from './service-ranges.ts'

/**
 * Returns the controllers of the server itself, which run independently of the selected ones: API service and endpoints,
 * identity Lease, service CIDRs and addresses, flow schemas and priority levels, start of legacy token tracking, coordinated
 * leader election. Run them as the user of the server.
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
  const elections = facts.electsLeaders === true ? electionControllers(facts) : []
  const identity = facts.hasIdentity === false ? [] : [serverIdentity(facts)]
  const { shared } = facts
  const addresses = serviceIPAddresses({ isShared: shared !== undefined })
  const repairs = shared === undefined ? [] : [allocationRepair(shared)]
  const objects = [...identity, serverService(facts), serviceRanges(facts), addresses, ...repairs]
  return [...objects, flowControl(facts), tokenTracking, ...elections]
}

/** The controllers of coordinated leader election, which run in one server at a time. */
function electionControllers({ holder, electionTimes }: ServerFacts): readonly Controller[] {
  const { name: leaseName } = leaderElectionController
  const lead = (context: ControllerContext) => leaderElectionController.start(context)
  return [leaderElection({ ...electionTimes, leaseName, identity: holder, lead }), leaseCandidateCleaner]
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
