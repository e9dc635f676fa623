/** The flags of the aggregation layer. */
export interface AggregationOptions {
  readonly proxyClientCertFile?: string
  readonly proxyClientKeyFile?: string
  readonly enableAggregatorRouting: boolean
  readonly aggregatorRejectForwardingRedirect: boolean
}
