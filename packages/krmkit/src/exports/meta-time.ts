export * from '@krmkit/meta/time'
