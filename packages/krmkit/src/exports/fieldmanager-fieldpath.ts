export * from '@krmkit/fieldmanager/fieldpath'
