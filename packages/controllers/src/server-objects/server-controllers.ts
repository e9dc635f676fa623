import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller } from '../interfaces.ts'
import { ensureTrackingStart } from '../service-account-tokens/legacy-cleaner.ts'
import { flowControl } from './flow-control.ts'
import type { ServerFacts } from './interfaces.ts'
import { serverIdentity } from './server-identity.ts'
import { serverService } from './server-service.ts'
import { serviceIPAddresses } from './service-ip-addresses.ts'
import { serviceRanges } from './service-ranges.ts'

/**
 * Returns the controllers of the server itself, which run independently of the selected ones: API service and endpoints, identity
 * Lease, service CIDRs and addresses, flow schemas and priority levels, start of token tracking. Run them with the user of the server.
 */
export function serverControllers(facts: ServerFacts): readonly Controller[] {
  return [serverIdentity(facts), serverService(facts), serviceRanges(facts), serviceIPAddresses, flowControl, tokenTracking]
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
