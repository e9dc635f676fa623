export * from '@krmkit/testing/certification'
