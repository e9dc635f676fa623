export * from '@krmkit/fieldmanager'
