export * from '@krmkit/meta/der'
