export * from '@krmkit/meta/arguments'
