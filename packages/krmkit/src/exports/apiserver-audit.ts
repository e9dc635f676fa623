export * from '@krmkit/apiserver/audit'
