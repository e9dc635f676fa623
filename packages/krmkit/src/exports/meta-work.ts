export * from '@krmkit/meta/work'
