export * from '@krmkit/meta/ip'
