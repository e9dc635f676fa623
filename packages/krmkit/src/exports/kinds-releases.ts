export * from '@krmkit/kinds/releases'
