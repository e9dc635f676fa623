export * from '@krmkit/storage/testing'
