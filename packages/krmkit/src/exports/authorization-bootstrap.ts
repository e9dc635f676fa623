export * from '@krmkit/authorization/bootstrap'
