/** What flags say about other servers that serve parts of the same API. */
export interface AggregationOptions {
  readonly proxyClientCertFile?: string
  readonly proxyClientKeyFile?: string
  readonly enableAggregatorRouting: boolean
  readonly aggregatorRejectForwardingRedirect: boolean
}
