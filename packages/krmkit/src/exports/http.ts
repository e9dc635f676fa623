export * from '@krmkit/http'
