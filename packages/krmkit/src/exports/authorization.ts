export * from '@krmkit/authorization'
