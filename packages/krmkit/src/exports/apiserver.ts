export * from '@krmkit/apiserver'
