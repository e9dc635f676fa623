export * from '@krmkit/meta'
