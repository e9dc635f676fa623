export * from '@krmkit/kinds'
