export * from '@krmkit/authorization/configuration'
