export * from '@krmkit/kinds/custom-resources'
