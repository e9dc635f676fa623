export * from '@krmkit/meta/token-bucket'
