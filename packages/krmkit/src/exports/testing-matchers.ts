export * from '@krmkit/testing/matchers'
