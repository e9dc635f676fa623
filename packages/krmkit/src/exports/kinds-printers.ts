export * from '@krmkit/kinds/printers'
