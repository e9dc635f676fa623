export * from '@krmkit/authentication/configuration'
