export * from '@krmkit/meta/feature-gates'
