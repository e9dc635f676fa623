export * from '@krmkit/apiserver/request-info'
