export * from '@krmkit/fieldmanager/typed'
