export * from '@krmkit/apiserver/metrics'
