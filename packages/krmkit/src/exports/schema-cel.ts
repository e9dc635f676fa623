export * from '@krmkit/schema/cel'
