export * from '@krmkit/meta/slices'
