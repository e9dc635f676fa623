export * from '@krmkit/authorization/rbac'
