export * from '@krmkit/schema/structural'
