export * from '@krmkit/kinds/strategies'
