import { addOptionGroup, type Command, option } from '../commander.ts'
import { booleanOption } from '../flag-values.ts'

/** Adds the flags of the aggregation layer, named as those of kube-apiserver. */
export function addAggregationFlags(command: Command): Command {
  return addOptionGroup(command, 'Misc', [
    option(
      '--proxy-client-cert-file <file>',
      'PEM client certificate for requests proxied to aggregated API servers; reloaded when it changes',
    ),
    option('--proxy-client-key-file <file>', 'PEM private key of --proxy-client-cert-file'),
    booleanOption(
      '--enable-aggregator-routing',
      'route requests to endpoint addresses instead of cluster IPs, for aggregated API servers and webhooks',
      false,
    ),
    booleanOption(
      '--aggregator-reject-forwarding-redirect',
      'answer 502 to redirects of aggregated API servers instead of forwarding them',
      true,
    ),
  ])
}
