export * from '@krmkit/fieldmanager/managed-fields'
