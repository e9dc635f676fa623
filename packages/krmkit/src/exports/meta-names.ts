export * from '@krmkit/meta/names'
