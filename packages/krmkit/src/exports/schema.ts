export * from '@krmkit/schema'
