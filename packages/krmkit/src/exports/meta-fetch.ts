export * from '@krmkit/meta/fetch'
