export * from '@krmkit/client'
