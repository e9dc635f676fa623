export * from '@krmkit/fieldmanager/value'
