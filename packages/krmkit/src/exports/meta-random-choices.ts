export * from '@krmkit/meta/random-choices'
