export * from '@krmkit/meta/int-or-string'
