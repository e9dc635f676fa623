export * from '@krmkit/storage'
