export * from '@krmkit/authentication/testing'
