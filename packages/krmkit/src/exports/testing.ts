export * from '@krmkit/testing'
