export * from '@krmkit/meta/selectors'
