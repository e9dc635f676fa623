export * from '@krmkit/authentication/service-account'
