export * from '@krmkit/apiserver/request-trace'
