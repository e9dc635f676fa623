export * from '@krmkit/kinds/groups'
