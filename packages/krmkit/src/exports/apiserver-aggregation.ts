export * from '@krmkit/apiserver/aggregation'
