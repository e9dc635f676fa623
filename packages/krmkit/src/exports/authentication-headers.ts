export * from '@krmkit/authentication/headers'
